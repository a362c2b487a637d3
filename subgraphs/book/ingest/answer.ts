import { canonicalJson } from '../../../schema/canonical-json.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { foreignRef } from '../../../schema/observed-transfer.ts';
import { iso } from '../../clock.ts';
import type { Issuer } from '../../receipt/issuer/signing-keys.ts';
import type { IngestArgs, IngestFact } from './find.ts';
import { payerText } from './payer-proof.ts';
import { envelopeOf } from './row.ts';
import { spendOf } from './spend.ts';

/** What an ingest is answered: kept sealed, and the same whenever it is sent again. */
export type RecordedIngest = ReturnType<typeof recorded> & {
  /** Over the canonical rest of it: recorded by this service, which attests to nothing for whoever was paid. */
  readonly signature: { readonly alg: 'ES256'; readonly scope: 'recorded'; readonly value: string };
};

function recorded(args: IngestArgs, { task_id, transfer, payer_proven }: IngestFact, base_url: string, at_ms: number) {
  const spend = spendOf(args);
  const { hub, model, resource } = spend;
  const { rail, amount } = transfer;
  const at_seconds = Math.floor(at_ms / 1_000);
  return {
    task_id,
    agent_id: args.agent_id,
    payment: { ref: foreignRef(transfer), rail, amount, collected: payer_proven },
    payer_proven,
    // Whoever paid signs it, with a time of their own, and records the transfer once more.
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
  const said = recorded(args, fact, issuer.base_url, at_ms);
  return { ...said, signature: { alg: 'ES256', scope: 'recorded', value: issuer.signCanonical(canonicalJson(said)) } };
}
