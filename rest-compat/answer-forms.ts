import type { DocumentNode } from 'graphql';
import type { Json, JsonObject } from '../schema/canonical-json.ts';
import type { EventFrames } from './sse.ts';

/* In which forms a row of the table may say its answer, beside JSON in one piece. `Q`, `B`: its query and body. */

/** In events or pieces, for requests that ask for them. */
export interface StreamForm<Q, B> {
  asked(body: B): boolean;
  /** They never end: whoever leaves comes back and resumes. They are public, and shared by all who follow the same. */
  readonly live?: true;
  readonly document: DocumentNode;
  /** How they are written, where that is not the same for every request. */
  readonly frames: EventFrames | ((asked: { query: Q; body: B }) => EventFrames);
  eventOf(data: JsonObject, body: B): Json;
}

/** In another medium, by an operation of its own. */
export interface Form {
  readonly media: string;
  readonly document: DocumentNode;
  /** Beside those of the door. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Null is a 404. */
  textOf(data: JsonObject): string | null;
}

/** A page that checks in the reader's browser what it shows: made with the program that it runs, which its policy names. */
export interface CheckedForm extends Omit<Form, 'headers' | 'textOf'> {
  withProgram(program: string): Pick<Form, 'headers' | 'textOf'>;
}

/** What went wrong, for people: where they would have been shown a page. */
export interface FaultPage {
  readonly media: string;
  readonly headers: Readonly<Record<string, string>>;
  textOf(fault: { readonly code: string; readonly detail: string }): string;
}

/** As bare text, for requests that ask for that. */
export interface Plain<B> {
  asked(body: B): boolean;
  readonly media: string;
  readonly headers?: Readonly<Record<string, string>>;
  textOf(data: JsonObject): string;
}
