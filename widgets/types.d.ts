/** The model that a front end passes to a widget, as documented by anywidget. */
export interface Model {
  get(name: string): any;
  on(event: string, listener: (...args: any[]) => void): void;
  off(event?: string | null, listener?: ((...args: any[]) => void) | null): void;
  set(name: string, value: any): void;
  save_changes(): void;
  send(content: any, callbacks?: any, buffers?: any): void;
  /** Where the front end has one: the models of other widgets, and in JupyterLab the kernel. */
  widget_manager?: { get_model(id: string): Promise<Model>; kernel?: { interrupt(): Promise<void> } | null };
}

export interface Mount {
  model: Model;
  el: HTMLElement;
  /** Where the front end has it: the models of other widgets, by reference. */
  host?: {
    getModel(reference: string): Promise<Model>;
    /** In marimo, whose models have no code. */
    getWidget?(reference: string): Promise<{ render(mount: { el: HTMLElement; signal?: AbortSignal }): Promise<void> }>;
  };
}

/** The state trait of an editor. */
export interface State {
  index: string;
  address: string;
  title: string;
  applies: boolean;
  readOnly: string;
  busy: string;
  error: Explanation | null;
  dirty: boolean;
  /** Whether the session has a new connection with which nothing was read yet. */
  outdated?: boolean;
  /** Whether applying creates what is edited. */
  isNew?: boolean;
  undo: boolean;
  redo: boolean;
  /** Interrupted changes of the index: id, text, and the labels of `finish` and `revert`. */
  interrupted?: { change: string; text: string; finish: string; revert: string }[];
  /** Members that single editors add. */
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
