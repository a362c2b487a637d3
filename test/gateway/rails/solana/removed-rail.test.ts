import { expect, it } from 'vitest';
import { audit } from '../../../harness/faults/audit.ts';
import { send, trySend } from '../../../harness/faults/buyer.ts';
import { untilClosed } from '../../../harness/faults/claims.ts';
import { openGround } from '../../../harness/faults/ground.ts';
import { refusalOf } from '../../../harness/faults/operator.ts';
import { newSolanaBuyer } from '../../../harness/solana/orders.ts';

it('a service that is to do without Solana does not start before what was sent there is finished', async () => {
  const ground = await openGround({ solana: true });
  const order = await (await newSolanaBuyer(ground)).chat('on its way');
  const dying = await ground.startDying({ plan: { point: 'after_broadcast' } });
  const lost = trySend(dying, order);
  await dying.died;
  expect(await lost).toBeNull();

  const without = { environment: { SOLANA_RPC_URL: '' } };
  expect(await refusalOf(ground, without)).toContain('(1 on solana)');

  await dying.endLease();
  const again = await ground.start();
  expect(await untilClosed(ground, order)).toMatchObject({ state: 'recorded' });
  await again.stop();
  const after = await ground.start(without);
  expect((await send(after, order)).status).toBe(402);
  expect(await audit(ground)).toBe(1);
});
