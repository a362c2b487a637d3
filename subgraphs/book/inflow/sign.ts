import { canonicalJson, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import type { InflowClaimPayload } from '../../../schema/inflow-claim.ts';
import { jwksUri } from '../../../schema/links.ts';
import { iso } from '../../clock.ts';
import type { BookContext } from '../context.ts';
import type { WalletWord } from './wallet-claim.ts';

/** Claim of an inflow before the issuer signs it. */
export interface UnsignedInflow {
  readonly agent_id: number;
  readonly task_id: string;
  readonly bucket: string;
  /** Allocated amount in atomic USDC, as decimal digits. */
  readonly allocation: string;
  readonly model?: string | undefined;
  readonly hub?: string | undefined;
  /** For a correction: task id of the corrected row, reason, and free-form object of the owner. */
  readonly corrects?: string;
  readonly reason?: string;
  readonly correction?: JsonObject | undefined;
  /** Task ids of the branches that a correction merges, in the order of seq. Absent if it merges none. */
  readonly merges?: readonly string[] | undefined;
  /** Assignment whose token recorded the inflow. Absent if the owner recorded it. */
  readonly recorded_by?: JsonObject | undefined;
  /** Claim that the wallet signed. Null if there is none. */
  readonly wallet_word: WalletWord | null;
}

type SigningContext = Pick<BookContext, 'issuer' | 'clock' | 'profile'>;

/** Makes a signed inflow claim (svc402.inflow_claim.v1): its members, and the `signature` over all of them. */
export function signedInflow({ issuer, clock, profile }: SigningContext, inflow: UnsignedInflow): JsonObject {
  const { wallet_word, ...claimed } = inflow;
  const payload: InflowClaimPayload = {
    ...present({ ...claimed, ...wallet_word, profile: profile === 'development' ? profile : undefined }),
    schema: documents.inflow_claim,
    iss: issuer.base_url,
    verify_jwks: jwksUri(issuer.base_url),
    agent_id: inflow.agent_id,
    task_id: inflow.task_id,
    bucket: inflow.bucket,
    allocation: inflow.allocation,
    claimed_at: iso(clock.now_ms()),
  };
  const value = issuer.signCanonical(canonicalJson(payload));
  return { ...payload, signature: { alg: 'ES256', kid: issuer.kid, value } };
}
