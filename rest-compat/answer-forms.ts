import type { DocumentNode } from 'graphql';
import type { Json, JsonObject } from '../schema/canonical-json.ts';
import type { EventFrames } from './sse.ts';

/* Forms of an answer other than JSON in one piece. `Q`, `B`: the query and body of the endpoint. */

/** As events or in pieces, for requests that ask for it. */
export interface StreamForm<Q, B> {
  isRequested(body: B): boolean;
  /**
   * The stream does not end: a client that was cut off connects again and resumes. It is public, and shared by all clients with the same
   * request.
   */
  readonly live?: true;
  readonly document: DocumentNode;
  /** Format of the events, or a function if it depends on the request. */
  readonly frames: EventFrames | ((request: { query: Q; body: B }) => EventFrames);
  eventOf(data: JsonObject, body: B): Json;
}

/** Another media type, by an operation of its own. */
export interface Form {
  readonly media: string;
  readonly document: DocumentNode;
  /** Headers in addition to those of the endpoint. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Null gives a 404. */
  textOf(data: JsonObject): string | null;
}

/**
 * A page that verifies in the browser what it shows. It is made with the script that it runs, because its Content-Security-Policy has the
 * hash of the script.
 */
export interface VerifyingForm extends Omit<Form, 'headers' | 'textOf'> {
  withProgram(program: string): Pick<Form, 'headers' | 'textOf'>;
}

/** An error as a page, for requests that would have received a page. */
export interface FaultPage {
  readonly media: string;
  readonly headers: Readonly<Record<string, string>>;
  textOf(fault: { readonly code: string; readonly detail: string }): string;
}

/** As plain text, for requests that ask for it. */
export interface PlainForm<B> {
  isRequested(body: B): boolean;
  readonly media: string;
  readonly headers?: Readonly<Record<string, string>>;
  textOf(data: JsonObject): string;
}
