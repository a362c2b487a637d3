import type { JsonObject } from '../../../schema/canonical-json.ts';

/** One version of a history that only grows. Its document names the version before it by hash, and never changes. */
export interface Version {
  readonly version: number;
  /** SHA-256 of the canonical document. */
  readonly hash: string;
  readonly document: JsonObject;
  /** Null for the first. */
  readonly previous_hash: string | null;
  /** ISO 8601: when it was appended. It is retired when the next one is. */
  readonly activated_at: string;
}
