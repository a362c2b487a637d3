import { canonicalHash, type JsonObject } from './canonical-json.ts';
import { limits } from './limits.ts';

/* A book proof as it is shown: plain, or bound to one request by a nonce. */

/** A request, as far as a book proof can be bound to it. */
export interface ProvenRequest {
  /** As in the request line: `POST`. */
  readonly method: string;
  /** Path of the endpoint with its parameters filled in, or `/graphql`, without a query: `/v1/agents/7/book`. */
  readonly path: string;
  /** The parsed body; empty if the request has none. */
  readonly body: JsonObject;
}

/** Pattern of the nonce, which makes a proof one of the bound form. */
export const NONCE_PATTERN = `^[A-Za-z0-9_-]{${limits.book_proof_nonce_chars_min},${limits.book_proof_nonce_chars_max}}$`;

/** Pattern of a proof of either form. */
export const PROOF_PATTERN = '^sha256=[0-9a-f]{64}$';

/** A book proof, as it was sent. */
export interface ShownProof {
  /** Agent of the book that the proof is for. A proof for an unknown agent proves nothing. */
  readonly agent_id: number;
  /** `sha256=<hex>` */
  readonly value: string;
  /** Null in the plain form. */
  readonly nonce: string | null;
  /** Null while its body has not been read: until then a plain proof can be judged and a bound one cannot. */
  readonly request: ProvenRequest | null;
}

/**
 * SHA-256, hex, of the canonical body without its member `proof`, which cannot cover itself. Null for JSON that RFC 8785 cannot represent:
 * a lone surrogate.
 */
export function provenBodyHash({ proof: _, ...body }: JsonObject): string | null {
  try {
    return canonicalHash(body);
  } catch {
    return null;
  }
}
