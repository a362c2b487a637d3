import { expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import { renewLease } from '../../../../subgraphs/receipt/claim/lease.ts';
import { keptAnswer } from '../../../../subgraphs/receipt/claim/rerun.ts';
import { beginSettling } from '../../../../subgraphs/receipt/claim/transitions.ts';
import { claim, claimRequest, OWNER, recordClaim } from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

it('a batch of the largest images begins to settle, and whoever is in it with them does not fail for them', async () => {
  const database = await freshStore();
  await database.transaction(tx => renewLease(tx, OWNER));
  const images = Array.from({ length: 11 }, () => Buffer.alloc(limits.image_answer_bytes_max));
  const boxes = [...images, Buffer.from('small')];
  const outcomes = await claim(database, ...boxes.map((_, at) => claimRequest(`call-${at}`)));
  const items = outcomes.flatMap((outcome, at) => {
    const rest = { settlement_id: 's', from_block: 1, answer_box: boxes[at] ?? null, worked: {} };
    return outcome.kind === 'claimed' ? [{ ...outcome.lease, ...rest }] : [];
  });
  expect((await database.transaction(tx => beginSettling(tx, items))).size).toBe(boxes.length);
  const kept = await database.query<{ bytes: number }>({
    text: 'select length(answer_box) as bytes from payment_claim order by bytes desc',
    values: [],
  });
  expect(kept.map(({ bytes }) => bytes)).toEqual(boxes.map(({ length }) => length));
});

it('a payment that brought a large answer is met without it, which is read once nothing is locked', async () => {
  const database = await freshStore();
  await database.transaction(tx => renewLease(tx, OWNER));
  const answer_box = Buffer.alloc(limits.image_answer_bytes_max, 'x');
  const [outcome] = await claim(database, claimRequest('large'));
  if (outcome?.kind !== 'claimed') throw new Error('it is not claimed');
  const { lease } = outcome;
  const rest = { settlement_id: 's', from_block: 1, answer_box, worked: {} };
  await database.transaction(tx => beginSettling(tx, [{ ...lease, ...rest }]));
  await recordClaim(database, lease);
  const [again] = await claim(database, claimRequest('large'));
  expect(again).toEqual({
    kind: 'replayed',
    claim_key: 'large',
    task_id: expect.any(String),
    answered: true,
    landing: {},
  });
  expect((await keptAnswer(database, 'large'))?.equals(answer_box)).toBe(true);
  expect(await keptAnswer(database, 'nobody')).toBeNull();
});
