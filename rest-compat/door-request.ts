import type { JsonObject } from '../schema/canonical-json.ts';
import type { ErrorCode } from '../schema/errors.ts';
import type { Upload } from './upload.ts';

/** By lower-case name, as Node has them; other transports say the same under the same names. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One call of a door, whatever brought it. None of it is believed yet. */
export interface DoorRequest {
  /** The HTTP method, as a possession proof names it. */
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  /** Credentials, the payment, the intent, If-None-Match. */
  readonly headers: RequestHeaders;
  readonly address: string;
  /** Whether a payment that cannot be read is answered by the price, as none is; left out: it is a fault of the request (400). */
  readonly unreadable_is_unpaid?: true;
  /** The path of the door's row by which it was called; left out where that is its own, not an alias. */
  readonly spelt?: string;
  /** Null where the method brings none: then it counts as an empty object. */
  readonly body: BodySource | null;
}

/** A request as it came: path parameters, query, headers and JSON body, none of it believed yet. */
export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: JsonObject;
  /** The Accept header, where it may choose a form. */
  readonly accept?: unknown;
}

/** A body that has not been read: what is refused before it is read costs its sender's address nothing. */
export interface BodySource {
  /** As many as it says that it has, or at most `bytes_max`. */
  expectedBytes(bytes_max: number): number;
  /** Reads it once. What is longer than the door allows is left unread from there on. */
  read(bounds: BodyRules, upload: Upload): Promise<Body>;
}

/** What a door's body may be. */
export type BodyMedia = 'application/json' | 'multipart/form-data';

/** What a door says of its bodies. */
export interface BodyRules {
  readonly takes: BodyMedia;
  readonly body_bytes_max: number;
}

/** What came of reading a body. */
export type Body =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly detail?: string };

export const emptyBody: Body = { kind: 'json', value: {} };
