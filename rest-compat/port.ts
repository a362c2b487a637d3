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
import type { CallDescription } from './call-description.ts';
import type { CardSignature } from './faces/a2a/card-signature.ts';
import type { UnpaidRequests } from './faces/a2a/unpaid-requests.ts';
import type { ToolSessions } from './faces/mcp/sessions.ts';
import type { SecurityContact } from './security-contact.ts';
import type { EventFrames } from './sse.ts';
import type { Upload, UploadSender } from './upload.ts';

/** Credentials from headers and body. A query string is only read where the endpoint says so, because logs contain it. */
export interface Credentials {
  /** All sessions, without duplicates. */
  readonly sessions: readonly string[];
  /** The X-SVC-Agent header: the book of a paid call if there are several sessions. */
  readonly agent: number | null;
  readonly proof: ShownProof | null;
  readonly api_key: string | null;
  /** Null if there is no slice token. */
  readonly slice: ShownSlice | null;
  /** Null if there is no key of a router book. */
  readonly ingest_key: ShownIngestKey | null;
  /** Secrets of the board. */
  readonly board_secrets: ShownBoardSecrets;
  readonly payment: ShownPayment | null;
  /** The X-Router-Key header. Null also if it has an invalid form. */
  readonly router_key: Secret | null;
  /** The X-SVC-Redeliver header. */
  readonly redelivery: string | null;
  /** The Idempotency-Key header, unparsed. Null if there is none. */
  readonly idempotency_key: string | null;
  /** The X-SVC-Delegation header: the grant of a session, together with a payment. */
  readonly delegation: string | null;
  /** The X-SVC-Note header, unparsed. */
  readonly note: string | null;
  /** The absolute URL of the endpoint. Absent for calls on the graph. */
  readonly resource?: string;
  readonly address: string;
}

/** The raw PAYMENT-SIGNATURE (v2) or X-PAYMENT (v1) header. */
export interface ShownPayment {
  readonly x402_version: 1 | 2;
  readonly header: string;
}

/** What can be said about a payment from its header. `presented` is opaque, and passed back to `identify`. */
export type PaymentJudgement =
  | { readonly kind: 'none' }
  /** Not base64 of JSON in an x402 shape. `why`: a sentence that names header, version and member. */
  | { readonly kind: 'malformed'; readonly why: string }
  /** The endpoint has no fixed price. */
  | { readonly kind: 'unjudged'; readonly presented: unknown }
  /** Not what was offered, or not signed by its payer. `reason` is x402's own word. */
  | { readonly kind: 'rejected'; readonly reason: string; readonly presented: unknown }
  /** Proven by its signature, or by the contract at the payer's address. */
  | { readonly kind: 'proven'; readonly payer: string; readonly presented: unknown; readonly verified: unknown }
  /** Only a call of the contract on the chain can prove it. */
  | { readonly kind: 'unproven'; readonly payer: string; readonly presented: unknown; readonly verified: unknown };

/** The price of an endpoint. `resource` is its absolute URL: x402 v1 and v2 both require it. */
export interface Price {
  readonly amount_atomic: bigint;
  readonly networks: readonly NetworkName[];
  /** The payee, on the only network. Absent: this service. */
  readonly pay_to?: string | undefined;
  /** The longest validity of a payment. Absent: no limit. */
  readonly validity_seconds_max?: number | undefined;
  /** True if the purchase has an effect only once, so that a client needs no payment identifier to avoid buying it twice. */
  readonly stamp?: boolean;
  readonly resource: string;
  readonly description: string;
  readonly call_description?: CallDescription;
}

/** A 402 in both versions of x402: v2 in the header, v1 in the body. */
export interface Challenge {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** The object that the v2 header encodes. */
  readonly required: JsonObject;
}

/** How a call of a paid endpoint can be paid for. A column of the endpoint lists the accepted ones. */
export type PaymentMethod = 'payment' | 'live_key' | 'demo_key' | 'waiver_key';

export interface Caller {
  readonly possession: Possession;
  /** Absent if there is no secret of the board. */
  readonly board?: BoardStanding | undefined;
  /** A payment takes precedence over a key. Null if there is neither, or the key is unknown. */
  readonly payment_method: PaymentMethod | null;
  /** True if the API key is unknown. The response does not repeat it. */
  readonly unknown_key: boolean;
  readonly payment: PaymentJudgement;
  /** Opaque; passed back to `execute`. */
  readonly context: unknown;
}

/**
 * Null members are left out of the lists and objects named by the keys (dotted for nested ones), except the listed members. Elsewhere null
 * is a value.
 */
export type LeftOutNulls = Readonly<Record<string, readonly string[]>>;

/** The operation of an endpoint for one caller. */
export interface DoorOperation {
  readonly document: DocumentNode;
  readonly variables: JsonObject;
  /**
   * The parsed body. A resolver in this process accepts the object that its own schema produced (schema/requests/parse.ts), and validates
   * the variables otherwise.
   */
  readonly valid_body: object;
  readonly caller: Caller;
  /** For a stream: aborted when its reader has disconnected. */
  readonly left?: AbortSignal | undefined;
}

export interface DoorError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  readonly param?: string;
  /** Public members of the problem: `charged`, `retry_after_seconds`, `task_id`. */
  readonly facts: JsonObject;
  /** A 402 by the resolver. Without it the price of the endpoint is offered. */
  readonly challenge?: Pick<Challenge, 'headers' | 'body'>;
}

export interface DoorResult {
  readonly data: JsonObject | null;
  readonly errors: readonly DoorError[];
  /** Headers of the charge, such as PAYMENT-RESPONSE; also set with errors. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A refusal before the first event, or the events. */
export type SubscribeOutcome =
  | { readonly kind: 'refused'; readonly executed: DoorResult }
  | {
      readonly kind: 'events';
      /** Headers that are known before the first event. */
      readonly headers: DoorResult['headers'];
      /** Does not throw for a refusal. If the reader stops, the work continues without it. */
      readonly events: AsyncIterable<Pick<DoorResult, 'data' | 'errors'>>;
    };

export interface FollowOperation extends Pick<DoorOperation, 'document' | 'variables'> {
  readonly address: string;
  /** The content of an event, and its format. */
  eventOf(data: JsonObject): Json;
  readonly frames: EventFrames;
}

/** The bytes of the stream, or a refusal. */
export type FollowOutcome =
  | { readonly kind: 'refused'; readonly executed: DoorResult }
  | { readonly kind: 'events'; readonly body: Readable };

/** Unpaid uses that are limited by address: free endpoints, invalid credentials, payments that prove nothing. */
export type FreeUse = 'free' | 'credentials' | 'unproven';

/** `headers`: RateLimit and RateLimit-Policy. */
export type RateTurn = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly kind: 'within' }
  | { readonly kind: 'beyond'; readonly retry_after_seconds: number }
);

/** Limits for each address in this process. */
interface AddressRates {
  /** Counts one use. */
  take(use: FreeUse, address: string): RateTurn;
  /** The state of the limit for the next use, without counting it. */
  look(use: FreeUse, address: string): RateTurn;
  /** Takes back one counted use. */
  giveBack(use: FreeUse, address: string): void;
  /** Reserves space for a body. Null if that address has too many. The result releases it. */
  hold(address: string, bytes: number): (() => void) | null;
  /** RateLimit and RateLimit-Policy if there is no space. */
  readonly body_limit_headers: Readonly<Record<string, string>>;
}

/** The interface of the REST layer to the rest of the service: it imports neither subgraphs nor gateway. */
export interface Port {
  /** Judges a payment by its header alone, without network access. `price`: null if the endpoint has no fixed price. */
  judge(shown: ShownPayment | null, price: Price | null): Promise<PaymentJudgement>;
  /**
   * Proves a payment by the contract at the payer's address, which is limited by `address`, that of the request.
   * @throws Refusal unavailable, chain_unavailable; the payment stays usable.
   */
  prove(unproven: Extract<PaymentJudgement, { kind: 'unproven' }>, address: string): Promise<PaymentJudgement>;
  /** Adds `charged` to a refusal that was made without regard to the payment. */
  besidePayment(refusal: Refusal, payment: PaymentJudgement): Promise<Refusal>;
  /** May be called twice for one request: with its headers, then with its body too. */
  identify(credentials: Credentials, payment: PaymentJudgement): Promise<Caller>;
  readonly rates: AddressRates;
  challenge(price: Price, reason: { code: ErrorCode; detail?: string } | null): Challenge;
  /** Adds the description of the endpoint to a challenge by a resolver. */
  describe(
    challenge: Pick<Challenge, 'headers' | 'body'>,
    called: CallDescription,
  ): Pick<Challenge, 'headers' | 'body'>;
  /**
   * Runs a named document on the same planner, subgraphs and resolvers as /graphql. Does not throw for a refusal. Members of the answer may
   * be Written, which are already without the nulls of `nulls`.
   */
  execute(operation: DoorOperation & { readonly nulls: LeftOutNulls }): Promise<DoorResult>;
  /** The same for a subscription. */
  subscribe(operation: DoorOperation): Promise<SubscribeOutcome>;
  /**
   * A public subscription without a caller that does not end by itself. It runs once for all readers of the same events, is kept alive, and
   * ends with the server. A reader that is too slow is disconnected, and may resume.
   */
  follow(operation: FollowOperation): Promise<FollowOutcome>;
  /** Takes no space before the first piece, and no more than the sender's share in all. */
  beginUpload(sender: UploadSender): Upload;
  /** Changes whenever something on the public board may have changed. @throws Refusal unavailable */
  boardVersion(): Promise<string>;
  /** Signs the service's own description of itself, never content from outside (RFC 7515, detached). */
  signCard(card: JsonObject): CardSignature;
  /** The verifier as a script for browsers, for pages that verify what they show. */
  verifierProgram(): Promise<string>;
  readonly unpaid_requests: UnpaidRequests;
  readonly tool_sessions: ToolSessions;
  health(): Promise<JsonObject>;
  /** Names of the dependencies that every paid call needs and that are not available now. */
  away(): Promise<readonly string[]>;
  /** Names of unavailable dependencies that only some paid calls need. */
  without(): readonly string[];
  readonly security: SecurityContact;
  /** Base URL of the service, without a trailing slash. */
  readonly base_url: string;
  /** The networks whose chain is a stand-in of the development profile. */
  readonly simulated_networks: readonly NetworkName[];
}
