import { type Funds } from '../../subgraphs/receipt/claim/funds.ts';
import { railOf } from '../rails/rail.ts';
import type { Claiming, Taken } from '../record/queues.ts';
import type { AnyPaid } from '../record/recorder.ts';
import { rejected } from './authorized.ts';
import { hears } from './hears.ts';
import type { Till } from './till.ts';

export type WithinMeans = Exclude<Taken['outcome'], { kind: 'beyond_means' }>;

/** A call that is claimed, worked for and mined between the two questions of one look is seen by the next. */
const LOOKS_MAX = 2;

/**
 * Claims. A payer who seems to have promised all that he has is looked at again before he is refused: a call of his that
 * is being settled may have left the balance, and count as open until it is recorded.
 * @throws payment_rejected (`insufficient_funds`), chain_unavailable.
 */
export async function claimWithinMeans(
  till: Till,
  paid: AnyPaid,
  claiming: Claiming,
  submit: (claiming: Claiming) => Promise<Taken>,
): Promise<Taken<WithinMeans>> {
  const { request } = claiming;
  let { claim, outcome } = await submit(claiming);
  for (let looks = 0; outcome.kind === 'beyond_means' && looks < LOOKS_MAX; looks++)
    ({ claim, outcome } = await submit({
      ...claiming,
      request: { ...request, means: await lookAgain(till, request) },
    }));
  if (outcome.kind === 'beyond_means') throw rejected(till, paid, 'insufficient_funds');
  return { claim, outcome };
}

async function lookAgain(till: Till, { network, payer }: Claiming['request']): Promise<Funds> {
  const funds = await railOf(till, network).funds(payer);
  if (funds.kind !== 'ok') throw hears(funds);
  return funds.value;
}
