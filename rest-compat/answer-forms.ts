import type { DocumentNode } from 'graphql';
import type { Json, JsonObject } from '../schema/canonical-json.ts';
import type { EventFrames } from './sse.ts';

/* In which forms a row of the table may say its answer, beside JSON in one piece. `Q`, `B`: its query and body. */

/** In events or pieces, for requests that ask for them. */
export interface StreamForm<Q, B> {
  asked(body: B): boolean;
  readonly document: DocumentNode;
  /** How they are written, where that is not the same for every request. */
  readonly frames: EventFrames | ((asked: { query: Q; body: B }) => EventFrames);
  eventOf(data: JsonObject, body: B): Json;
}

/** In another medium, by a document of its own. */
export interface Form {
  readonly media: string;
  readonly document: DocumentNode;
  /** Null is a 404. */
  textOf(data: JsonObject): string | null;
}

/** As bare text, for requests that ask for that. */
export interface Plain<B> {
  asked(body: B): boolean;
  readonly media: string;
  textOf(data: JsonObject): string;
}
