import type { JsonObject } from '../schema/canonical-json.ts';
import type { Principal } from '../schema/principal.ts';
import type { Secret } from '../schema/secret.ts';
import type { Clock, Random } from './clock.ts';
import type { Database } from './database.ts';
import type { Live } from './live.ts';
import { Stopwatch } from './stopwatch.ts';
import type { Vault } from './vault.ts';

/** A payment header, decoded but not verified. Opaque to subgraphs: only `charge` reads it. */
export interface PresentedPayment {
  readonly x402_version: 1 | 2;
  readonly envelope: JsonObject;
}

/** Services that live as long as the process. */
export interface Services {
  readonly database: Database;
  readonly live: Live;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly random: Random;
  /** Public base URL of this service, without a trailing slash. */
  readonly base_url: string;
  /** The current base URL, then the former ones. What was signed for any of them counts as signed for this service. */
  readonly base_urls: readonly string[];
  /** `development` while any stand-in is in use. */
  readonly profile: 'development' | 'production';
}

/** Payment and headers of a request, apart from the identity of the caller. */
export interface CallHeaders {
  readonly payment: PresentedPayment | null;
  /** The caller's key for the third-party router. Passed on to it, and neither stored nor logged. */
  readonly router_key: Secret | null;
  /** The X-SVC-Redeliver header, by which a payer proves that the payment is theirs. Not verified yet. */
  readonly redelivery: string | null;
  /** The Idempotency-Key header as received. Read by `charge` for a paid operation, by the graph for other mutations. */
  readonly idempotency_key: string | null;
  /** The X-SVC-Delegation header as received. Read by `charge` for a paid operation. */
  readonly delegation: string | null;
  /** The X-SVC-Note header as received. Read by `charge` for a paid operation. */
  readonly note: string | null;
  /** URL of the endpoint that was called, as its 402 response names it. Absent on /graphql. */
  readonly resource?: string | undefined;
}

/** An unpaid mutation under the Idempotency-Key of its caller, identified by hashes, since the key itself is not stored. */
export interface NamedWrite {
  readonly mark: string;
  readonly credential_mark: string;
  readonly request_hash: string;
  /** Id of this request, because several requests may use the same key. */
  readonly attempt: string;
}

/** What every resolver receives with a request. A subgraph that needs more from the process declares that in its own context.ts. */
export interface Context extends Services, CallHeaders {
  readonly principal: Principal;
  /** Body of a REST call, as validated by the schema of its endpoint: see `readRequest`. It never leaves this process. */
  readonly valid_body?: object;
  /**
   * Set if a write of this request must also store its Idempotency-Key. Transactions of `database` do so already; code that writes in
   * another transaction must be given this.
   */
  readonly named_write?: NamedWrite;
  /** Aborted once the caller has disconnected, which ends work that has no answer yet. Absent if disconnects cannot be detected. */
  readonly left?: AbortSignal | undefined;
  /** Response headers PAYMENT-RESPONSE and `x-svc-*`, which the server sends in REST and on /graphql. */
  readonly response: ResponseHeaders;
}

export class ResponseHeaders {
  readonly headers: Record<string, string> = {};
  /** Stopwatch of a paid call, if this request is one. */
  readonly stopwatch = new Stopwatch();
}
