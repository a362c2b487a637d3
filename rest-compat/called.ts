import type { JsonObject } from '../schema/canonical-json.ts';

/** How a door is called and what it answers, as a 402 of it says. */
export interface Called {
  /** By x402 v1, in the body. */
  readonly output_schema: JsonObject;
  /** By the `bazaar` extension of v2: its forms, the longest first. The header has the first that there is room for, if any. */
  readonly bazaars: readonly JsonObject[];
}
