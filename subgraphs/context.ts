import type { JsonObject } from '../schema/canonical-json.ts';
import type { Principal } from '../schema/principal.ts';
import type { Secret } from '../schema/secret.ts';
import type { Clock, Random } from './clock.ts';
import type { Database } from './database.ts';
import type { Live } from './live.ts';
import { Stopwatch } from './stopwatch.ts';
import type { Vault } from './vault.ts';

/** A payment header, decoded and not yet believed. Opaque to subgraphs: `charge` alone reads it. */
export interface PresentedPayment {
  readonly x402_version: 1 | 2;
  readonly envelope: JsonObject;
}

/** What lives as long as the process. */
export interface Services {
  readonly database: Database;
  readonly live: Live;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly random: Random;
  /** Public base of this service, without a trailing slash. */
  readonly base_url: string;
  /** The present base URL, then the former ones: what is signed for any of them is signed for this service. */
  readonly base_urls: readonly string[];
  /** `development` while any stand-in is in use. */
  readonly profile: 'development' | 'production';
}

/** Payment and headers of a request, beside the identity of the caller. */
export interface CallHeaders {
  readonly payment: PresentedPayment | null;
  /** The caller's own for the third-party router: passed on to it, and neither kept nor logged. */
  readonly router_key: Secret | null;
  /** The X-SVC-Redeliver header: by which its payer proves that the payment is his. Not believed yet. */
  readonly redelivery: string | null;
  /** The Idempotency-Key header as it came: read by `charge`, where something is sold, and of other mutations by the graph. */
  readonly idempotency_key: string | null;
  /** The X-SVC-Delegation header as it came: read by `charge`, where something is sold. */
  readonly delegation: string | null;
  /** The X-SVC-Note header as it came: read by `charge`, where something is sold. */
  readonly note: string | null;
  /** The URL of the door that was called, as its 402 names it; on /graphql it is left out. */
  readonly resource?: string | undefined;
}

/** An unpaid mutation under the Idempotency-Key of its caller, identified by hashes, since the key itself is not stored. */
export interface NamedWrite {
  readonly mark: string;
  readonly credential_mark: string;
  readonly request_hash: string;
  /** Never the same twice. */
  readonly attempt: string;
}

/** What one request carries to every resolver. A subgraph that needs more of the process declares it in its own context.ts. */
export interface Context extends Services, CallHeaders {
  readonly principal: Principal;
  /** The body of a REST call as its door's schema has made it: see `readRequest`. It never leaves this process. */
  readonly valid_body?: object;
  /** Set where the request takes a key by what it writes. What is written by `database` does so already; a recorder is handed it. */
  readonly named_write?: NamedWrite;
  /**
   * Aborted once the caller has disconnected: work before an answer ends then. Absent if disconnects cannot be
   * detected.
   */
  readonly left?: AbortSignal | undefined;
  /** Lifted into PAYMENT-RESPONSE and `x-svc-*` headers by the server, in REST and on /graphql alike. */
  readonly response: ResponseHeaders;
}

export class ResponseHeaders {
  readonly headers: Record<string, string> = {};
  /** Stopwatch of a paid call, if this request is one. */
  readonly stopwatch = new Stopwatch();
}
