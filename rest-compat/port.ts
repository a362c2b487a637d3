import type { Readable } from 'node:stream';
import type { DocumentNode } from 'graphql';
import type { BoardStanding, ShownBoardSecrets } from '../schema/board/shared-secret.ts';
import type { Json, JsonObject } from '../schema/canonical-json.ts';
import type { ErrorCode, Refusal } from '../schema/errors.ts';
import type { NetworkName } from '../schema/network.ts';
import type { Possession } from '../schema/principal.ts';
import type { ShownProof } from '../schema/proof.ts';
import type { ShownIngestKey } from '../schema/router/ingest-key.ts';
import type { Secret } from '../schema/secret.ts';
import type { ShownSlice } from '../schema/slice-token.ts';
import type { Called } from './called.ts';
import type { CardSignature, OfferedRequests } from './faces/a2a/kept-elsewhere.ts';
import type { ToolSessions } from './faces/mcp/sessions.ts';
import type { SecurityContact } from './security-contact.ts';
import type { EventFrames } from './sse.ts';
import type { Upload, UploadSender } from './upload.ts';

/** What a caller showed, gathered from headers and body; from a query string, which others may log, only where a door says so. */
export interface Credentials {
  /** Every one of them, each once. */
  readonly sessions: readonly string[];
  /** The X-SVC-Agent header: whose book a paid call is meant for, where several sessions come along. */
  readonly agent: number | null;
  readonly proof: ShownProof | null;
  readonly api_key: string | null;
  /** Null where no slice token came along. */
  readonly slice: ShownSlice | null;
  /** Null where no key of a router book came along. */
  readonly ingest_key: ShownIngestKey | null;
  /** What came along in the place of the board's secrets. */
  readonly board_secrets: ShownBoardSecrets;
  readonly payment: ShownPayment | null;
  /** The X-Router-Key header; null also where it can be no key. */
  readonly router_key: Secret | null;
  /** The X-SVC-Redeliver header. */
  readonly redelivery: string | null;
  /** The Idempotency-Key header as it came; null where none did. */
  readonly idempotency_key: string | null;
  /** The X-SVC-Delegation header: the grant of a session, beside a payment. */
  readonly delegation: string | null;
  /** The X-SVC-Note header as it came. */
  readonly note: string | null;
  /** The absolute URL of the door that was called; where none was, it is left out. */
  readonly resource?: string;
  readonly address: string;
}

/** The raw PAYMENT-SIGNATURE (v2) or X-PAYMENT (v1) header. */
export interface ShownPayment {
  readonly x402_version: 1 | 2;
  readonly header: string;
}

/** What a payment says by itself. `presented` is opaque, and handed back with who is calling. */
export type PaymentJudgement =
  | { readonly kind: 'none' }
  /** No base64 of JSON in an x402 shape. */
  /** `why`: header, version and member, in a sentence. */
  | { readonly kind: 'malformed'; readonly why: string }
  /** Where it came it buys nothing that has a price yet. */
  | { readonly kind: 'unjudged'; readonly presented: unknown }
  /** Not what was offered, or not its payer's. `reason` is x402's own word. */
  | { readonly kind: 'rejected'; readonly reason: string; readonly presented: unknown }
  /** By its signature alone, or by the word of the code at the payer's address. */
  | { readonly kind: 'proven'; readonly payer: string; readonly presented: unknown; readonly verified: unknown }
  /** Only code on the chain could tell, and has not been asked. */
  | { readonly kind: 'unproven'; readonly payer: string; readonly presented: unknown; readonly verified: unknown };

/** What a door asks for. `resource` is the door's absolute URL: x402 v1 and v2 both name it. */
export interface Price {
  readonly amount_atomic: bigint;
  readonly networks: readonly NetworkName[];
  /** Whom it pays, on its only network; left out: this service. */
  readonly pay_to?: string | undefined;
  /** For how long at most its payment may be valid; left out: as long as any that is asked for. */
  readonly validity_seconds_max?: number | undefined;
  /** Its effect stands once as it is: a client need not name it, so that it is not bought twice. */
  readonly stamp?: boolean;
  readonly resource: string;
  readonly description: string;
  readonly called?: Called;
}

/** One 402, speaking both versions at once: v2 in the header, v1 in the body. */
export interface Challenge {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** What the v2 header encodes. */
  readonly required: JsonObject;
}

/** By what a caller may pass a priced door; which of them a door takes is a column of its row. */
export type Means = 'payment' | 'live_key' | 'demo_key' | 'waiver_key';

export interface Caller {
  readonly possession: Possession;
  /** Left out where no secret of the board came along. */
  readonly board?: BoardStanding | undefined;
  /** A payment goes before a key. Null: nothing came along, or a key that nobody knows. */
  readonly means: Means | null;
  /** A key came along that is nobody's here. Which one is said nowhere. */
  readonly unknown_key: boolean;
  readonly payment: PaymentJudgement;
  /** Opaque; handed back to `execute`. */
  readonly context: unknown;
}

/**
 * Per list or object member of an answer, or of those by a dot: members of it that are null are left out, except those
 * named. Elsewhere null is an answer.
 */
export type LeftOutNulls = Readonly<Record<string, readonly string[]>>;

/** A door's document, as one caller asks for it. */
export interface DoorOperation {
  readonly document: DocumentNode;
  readonly variables: JsonObject;
  /**
   * What the body's schema has made of it, for a resolver of this process: it believes the very object that its own schema
   * made (schema/requests/parse.ts), and validates the variables otherwise.
   */
  readonly valid_body: object;
  readonly caller: Caller;
  /** Of an answer in events: aborted once its reader has left. */
  readonly left?: AbortSignal | undefined;
}

export interface ExecutedError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  readonly param?: string;
  /** Public members of the problem: `charged`, `retry_after_seconds`, `task_id`. */
  readonly facts: JsonObject;
  /** A 402 whose offer only the resolver knows; without it the door's own price is offered. */
  readonly challenge?: Pick<Challenge, 'headers' | 'body'>;
}

export interface Executed {
  readonly data: JsonObject | null;
  readonly errors: readonly ExecutedError[];
  /** Set by the charge: PAYMENT-RESPONSE and the like; also beside errors. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Either it was refused before its first event, or its events follow, each an answer of its own. */
export type DoorSubscribed =
  | { readonly kind: 'refused'; readonly executed: Executed }
  | {
      readonly kind: 'events';
      /** As far as they are known before the first event. */
      readonly headers: Executed['headers'];
      /** Never throws for a refusal. Whoever stops reading is waited for by nobody. */
      readonly events: AsyncIterable<Pick<Executed, 'data' | 'errors'>>;
    };

export interface Followable extends Pick<DoorOperation, 'document' | 'variables'> {
  readonly address: string;
  /** What of an event is written, and how. */
  eventOf(data: JsonObject): Json;
  readonly frames: EventFrames;
}

/** Bytes as they go out, or why there are none. */
export type Followed =
  | { readonly kind: 'refused'; readonly executed: Executed }
  | { readonly kind: 'events'; readonly body: Readable };

/** What nobody pays for, by the address from which it is asked: free doors, wrong credentials, payments that prove nothing. */
export type FreeUse = 'free' | 'credentials' | 'unproven';

/** `headers`: RateLimit and RateLimit-Policy. */
export type RateTurn = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly kind: 'within' }
  | { readonly kind: 'beyond'; readonly retry_after_seconds: number }
);

/** Bounds that each address has in this process. */
interface AddressRates {
  /** Counts one use. */
  take(use: FreeUse, address: string): RateTurn;
  /** What the next use would be. */
  look(use: FreeUse, address: string): RateTurn;
  /** One use that was counted, and turned out to be none. */
  giveBack(use: FreeUse, address: string): void;
  /** Room for a body on its way; null where that address has too many. The result gives it back. */
  hold(address: string, bytes: number): (() => void) | null;
  /** RateLimit and RateLimit-Policy where there is no room. */
  readonly crowded: Readonly<Record<string, string>>;
}

/** All that the REST layer knows of the rest: it imports neither subgraphs nor gateway. */
export interface Port {
  /** Judges a payment by its header alone, and asks nobody; null: where it came nothing has a price. */
  judge(shown: ShownPayment | null, price: Price | null): Promise<PaymentJudgement>;
  /**
   * Asks the code at the payer's address, in turns: proven, or rejected. `address` is where the request comes from.
   * @throws Refusal unavailable, chain_unavailable; the payment stays usable.
   */
  prove(unproven: Extract<PaymentJudgement, { kind: 'unproven' }>, address: string): Promise<PaymentJudgement>;
  /** A refusal that was found without a look at the payment, with `charged` beside it where a payment came along. */
  besidePayment(refusal: Refusal, payment: PaymentJudgement): Promise<Refusal>;
  /** May be asked twice for one request: by its headers, then with what the body adds. */
  identify(credentials: Credentials, payment: PaymentJudgement): Promise<Caller>;
  readonly rates: AddressRates;
  challenge(price: Price, reason: { code: ErrorCode; detail?: string } | null): Challenge;
  /** A challenge that a resolver has made, with how its door is called. */
  describe(challenge: Pick<Challenge, 'headers' | 'body'>, called: Called): Pick<Challenge, 'headers' | 'body'>;
  /**
   * Runs a named document on the same planner, subgraphs and resolvers as /graphql. Never throws for a refusal. Members of
   * the answer may be Written, then without `nulls`.
   */
  execute(operation: DoorOperation & { readonly nulls: LeftOutNulls }): Promise<Executed>;
  /** The same for a subscription. */
  subscribe(operation: DoorOperation): Promise<DoorSubscribed>;
  /**
   * A public subscription that goes on for as long as it is read, as nobody in particular: executed once for all who follow
   * the same, kept alive, and ended with the server. Its reader is cut off where it is too slow, and resumes.
   */
  follow(operation: Followable): Promise<Followed>;
  /** Holds nothing until something is taken, and of all room no more than the share of whoever sends it. */
  beginUpload(sender: UploadSender): Upload;
  /** Another one whenever something that the public board shows may have changed. @throws Refusal unavailable */
  boardVersion(): Promise<string>;
  /** Signs the service's own description of itself, and nothing that comes from outside (RFC 7515, without its payload). */
  signCard(card: JsonObject): CardSignature;
  /** The verifier as a browser runs it: the text of the program of every page that checks what it shows. */
  verifierProgram(): Promise<string>;
  readonly offered: OfferedRequests;
  readonly tool_sessions: ToolSessions;
  health(): Promise<JsonObject>;
  /** What a paid call needs and lacks here and now, by name. */
  away(): Promise<readonly string[]>;
  /** What some paid calls need and lack; the others go on. */
  without(): readonly string[];
  readonly security: SecurityContact;
  /** Without a trailing slash. */
  readonly base_url: string;
}
