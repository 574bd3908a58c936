import type { connect } from "../kit/bridge.js";

/** What a kernel is to the extension. */
export type KernelState = "starting" | "other" | "missing" | "unloaded" | "ready" | "dead";

export type Calls = ReturnType<typeof connect>;

/** Packages that the application shares. */
export type Share = (name: string) => Promise<any>;

/** A project's folder whose address may not receive the key before the user trusts it. */
export interface Untrusted {
  folder: string;
  profile: string;
  address: string;
}

export interface Connection {
  connected: boolean;
  untrusted?: Untrusted;
  /** Where there is no connection. */
  profiles?: string[];
  id?: string;
  profile?: string | null;
  application?: string;
  address?: string;
}

export interface IndexEntry {
  name: string;
  records: number;
  bytes: number;
  pending: number;
  primary: string;
}

export interface Part<T> {
  value?: T;
  error?: string;
}

export interface IndexContent {
  attributes: Part<{ name: string; kind: string; example: string }[]>;
  facets: Part<{ name: string; values: [string, number][] }[]>;
  settings: Part<{ name: string; value: string }[]>;
  synonyms: Part<number>;
  rules: Part<number>;
}

export interface CrawlerEntry {
  name: string;
  id: string;
  state: string;
  lastRun: string;
}

/** A row of the explorer's tree. */
export interface Row {
  key: string;
  level: number;
  kind: "group" | "index" | "attribute" | "facet" | "value" | "setting" | "fact" | "crawler" | "note" | "action";
  label: string;
  detail?: string;
  hint?: string;
  /** What a drag or "Copy name" gives. */
  name?: string;
  /** The index that the row belongs to. */
  index?: string;
  open?: boolean;
  /** 0 to 1 while tasks are pending. */
  progress?: number;
}

/** The settings of the extension, as its schema declares them. */
export interface Preferences {
  codeStyle: "python" | "magic";
  refreshAfterCells: boolean;
  underlineErrors: boolean;
  hoverHelp: boolean;
}

/** What a file's load would do, and what it did. */
export interface FilePlan {
  rows: number;
  sendable: number;
  ids: string;
  columns: Record<string, string>[];
  sample: string[];
  notes: string[];
  deletedAttributes: string[];
  rejectedRows: number;
  rejected: Record<string, string>[];
  records: number | null;
  /** The options to load with: those of the call, and the accepted proposals. */
  options: Record<string, any>;
  proposals: FileProposal[];
  /** With accepted proposals, the first records without them. */
  before: string[] | null;
}

/** A proposal of a plan: an option of columns, or the setting of that name with its value. */
export interface FileProposal {
  key: string;
  option: string;
  evidence: string;
  setting: string;
  value: string[];
}

export interface FileResult {
  sent: number;
  published: number;
  seconds: number;
  unchanged?: number;
  stopped?: string;
  /** The settings that were set after the load. */
  settings?: string[];
  rejectedRows: number;
  rejected: Record<string, string>[];
}
