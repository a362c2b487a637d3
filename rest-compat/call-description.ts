import type { JsonObject } from '../schema/canonical-json.ts';

/** How an endpoint is called and what it returns, as its 402 describes it. */
export interface CallDescription {
  /** For x402 v1, in the body. */
  readonly output_schema: JsonObject;
  /** For the `bazaar` extension of v2, in several lengths, the longest first. The header has the first that fits, if any. */
  readonly bazaars: readonly JsonObject[];
}
