/** What a notebook front end hands to a widget; no more than anywidget promises. */
export interface Model {
  get(name: string): any;
  on(event: string, listener: (...args: any[]) => void): void;
  off(event?: string | null, listener?: ((...args: any[]) => void) | null): void;
  set(name: string, value: any): void;
  save_changes(): void;
  send(content: any, callbacks?: any, buffers?: any): void;
}

export interface Mount {
  model: Model;
  el: HTMLElement;
}

/** What an editor's Python half says of itself. */
export interface State {
  index: string;
  address: string;
  title: string;
  applies: boolean;
  readOnly: string;
  busy: string;
  error: Explanation | null;
  dirty: boolean;
  undo: boolean;
  redo: boolean;
  /** What an editor of one kind adds. */
  [more: string]: any;
}

export interface Explanation {
  type: string;
  message: string;
  advice: string;
}

export interface Progress {
  done: number;
  total: number;
  text: string;
}
