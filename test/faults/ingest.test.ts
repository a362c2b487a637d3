import { beforeAll, describe, expect, it } from 'vitest';
import { type IngestService, openIngestService } from '../harness/ingest/open-ingest.ts';
import { invoiceOf } from '../harness/ingest/transfer-source.ts';

let house: IngestService;
beforeAll(async () => {
  // Fault points in the order of claims: first that of the agent's registration, then those of the cases. The first case also makes a
  // second claim.
  const breaks_at = ['nowhere', 'after_work', 'nowhere', 'after_broadcast', 'before_record', 'after_record'];
  house = await openIngestService({ breaks_at, meant: /the drawer is stuck/ });
});

/* Each case fails at another point. They run one after the other. */
describe.each([
  ['after it was found', false],
  ['once the stamp was sent', true],
  ['between stamp and row', true],
  ['between row and answer', true],
])('an ingest that broke off %s', (_, looked_once) => {
  it('is finished by the same payment: one stamp, one row, and the chain is not asked again for what is paid', async () => {
    const { agent, service, world } = house;
    const transfer = house.ownTransfer();
    const payment = await service.payment(agent.account, house.doorOf(agent), house.possessed());
    const send = () => service.post(house.doorOf(agent), invoiceOf(transfer), { ...house.possessed(), ...payment });
    const before = { stamps: await house.stampsOf(), asked: world.asked.length };
    expect((await send()).status).toBeGreaterThanOrEqual(500);
    if (looked_once) world.answerWith('unknown');
    await expect.poll(async () => (await send()).status, { interval: 500 }).toBe(201);
    world.answerWith(null);
    if (looked_once) expect(world.asked.length).toBe(before.asked + 1);
    expect(await house.stampsOf()).toBe(before.stamps + 1);
    const refs = (await house.bookOf()).entries.filter(
      ({ payment: paid }) => paid?.ref === `base:${transfer.transaction}`,
    );
    expect(refs).toHaveLength(1);
    const receipts = await service.query('select 1 from receipt where task_id = $1', [refs[0]?.task_id]);
    expect(receipts).toHaveLength(1);
  });
});
