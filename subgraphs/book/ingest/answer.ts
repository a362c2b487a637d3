import { canonicalJson } from '../../../schema/canonical-json.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { foreignRef } from '../../../schema/observed-transfer.ts';
import { iso } from '../../clock.ts';
import type { Issuer } from '../../receipt/issuer/signing-keys.ts';
import type { IngestArgs, IngestFact } from './find.ts';
import { payerText } from './payer-proof.ts';
import { envelopeOf } from './row.ts';
import { spendOf } from './spend.ts';

/** Response to an ingest. It is stored sealed, and each time the request is sent again it gets the same response. */
export type RecordedIngest = ReturnType<typeof recordPayload> & {
  /**
   * Signature over the canonical JSON of all other members. It attests that this service recorded the payment, and nothing about
   * what the seller did.
   */
  readonly signature: { readonly alg: 'ES256'; readonly scope: 'recorded'; readonly value: string };
};

function recordPayload(
  args: IngestArgs,
  { task_id, transfer, payer_proven }: IngestFact,
  base_url: string,
  at_ms: number,
) {
  const spend = spendOf(args);
  const { hub, model, resource } = spend;
  const { rail, amount } = transfer;
  const at_seconds = Math.floor(at_ms / 1_000);
  return {
    task_id,
    agent_id: args.agent_id,
    payment: { ref: foreignRef(transfer), rail, amount, collected: payer_proven },
    payer_proven,
    // The payer signs this text with the current time, and ingests the transfer again.
    ...(payer_proven ? {} : { payer_text: payerText(base_url, { agent_id: args.agent_id, transfer }, at_seconds) }),
    route: { hub, model, resource },
    verify_url: verifyUrl(base_url, task_id),
    foreign_x402: true,
    source: 'foreign_ingest',
    evidence: 'foreign_ingest',
    fulfillment: envelopeOf(spend, transfer),
    recorded_at: iso(at_ms),
  } as const;
}

export function ingestAnswer(
  args: IngestArgs,
  fact: IngestFact,
  issuer: Pick<Issuer, 'signCanonical' | 'base_url'>,
  at_ms: number,
): RecordedIngest {
  const said = recordPayload(args, fact, issuer.base_url, at_ms);
  return { ...said, signature: { alg: 'ES256', scope: 'recorded', value: issuer.signCanonical(canonicalJson(said)) } };
}
