import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { jobLimits, limits } from '../../../schema/limits.ts';
import type { JobPayout } from '../../../schema/requests/board-job.ts';
import { signedText } from '../../../schema/signed-words.ts';
import { textSignedHere } from '../../signed-here.ts';
import type { BoardContext } from '../context.ts';

interface Payout {
  readonly job_id: string;
  readonly agent_id: number;
  readonly address: string;
}

/** What an address signs that is to be paid for a job: of one job and one bidder here, so that nobody else can show it. */
export function payoutText(base_url: string, payout: Payout, at_seconds: number): string {
  return signedText('payout', base_url, { ...payout, unix_seconds: at_seconds });
}

/** @throws payout_not_proven */
export async function requirePayout(
  { network, address, signature, signature_timestamp: at }: JobPayout,
  { job_id, agent_id }: { readonly job_id: string; readonly agent_id: AgentId },
  { clock, transfers, principal, base_urls }: Pick<BoardContext, 'clock' | 'transfers' | 'principal' | 'base_urls'>,
): Promise<void> {
  const age_seconds = clock.now_ms() / 1_000 - at;
  const fresh =
    age_seconds <= jobLimits.payout_signature_seconds_max && age_seconds >= -limits.wallet_signature_ahead_seconds_max;
  if (!fresh) throw new Refusal('payout_not_proven', { param: 'payout.signature_timestamp' });
  const by = { network, payer: address, signature, asker: principal.address };
  const text = (base_url: string) => payoutText(base_url, { job_id, agent_id, address }, at);
  if ((await textSignedHere(base_urls.map(text), by, it => transfers.signed(it, by))) !== 'valid')
    throw new Refusal('payout_not_proven', { param: 'payout.signature' });
}
