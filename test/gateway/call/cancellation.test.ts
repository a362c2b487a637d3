import { expect, it } from 'vitest';
import { abandonClaimed } from '../../../gateway/call/give-up.ts';
import { ReleaseLater } from '../../../gateway/call/release-later.ts';
import type { Claimed } from '../../../gateway/call/states.ts';
import { WorkUnderway } from '../../../gateway/call/work-underway.ts';
import { Refusal } from '../../../schema/errors.ts';
import { cancelClaim } from '../../../subgraphs/receipt/claim/cancel.ts';
import { claim, claimRequest, heldLease } from '../../harness/claim/fixture.ts';
import { freshStore } from '../../harness/store.ts';

/* The answer to a canceled call, even if its payment has already bought something else. */

const database = await freshStore();

/** The answer to a claim that was canceled and claimed again for another call; `heard`: this process received the cancellation. */
async function toldAfter(heard: boolean): Promise<string> {
  const request = claimRequest(`canceled-${heard}`);
  const [outcome] = await claim(database, request);
  const claimed = { claim: request, task_id: request.task_id, lease: heldLease(outcome) } as unknown as Claimed;
  await database.transaction(tx => cancelClaim(tx, request.task_id));
  heldLease((await claim(database, claimRequest(request.claim_key)))[0]);
  const underway = new WorkUnderway();
  if (heard) underway.cancel(request.task_id);
  const parts = {
    database,
    log: { halt: null },
    later: new ReleaseLater(),
    failures: {} as never,
    underway,
    respond: ({ kind }: { kind: string }) => new Refusal('settlement_pending', { detail: kind }),
  };
  const { message } = await abandonClaimed(parts, claimed, 'nothing_moved', new Error('hung up on'));
  return message;
}

it('a call that was canceled hears so, though its payment is claimed by another call by then', async () => {
  expect(await toldAfter(true)).toBe('canceled');
});

it('a call whose claim was taken over hears that its outcome is open, not that it was canceled', async () => {
  expect(await toldAfter(false)).toBe('pending');
});
