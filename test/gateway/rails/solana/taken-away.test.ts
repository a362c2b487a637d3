import { expect, it } from 'vitest';
import { audit } from '../../../harness/faults/audit.ts';
import { send, trySend } from '../../../harness/faults/buyer.ts';
import { closed } from '../../../harness/faults/claims.ts';
import { openGround, reached } from '../../../harness/faults/ground.ts';
import { newSolanaBuyer } from '../../../harness/solana/orders.ts';

it('a service that is to do without Solana does not start before what was sent there is finished', async () => {
  const ground = await openGround({ solana: true });
  const order = await (await newSolanaBuyer(ground)).chat('on its way');
  const dying = await ground.startFaulty({ point: 'after_broadcast' });
  const lost = trySend(dying, order);
  await reached(dying, 'after_broadcast');
  await dying.exited;
  expect(await lost).toBeNull();

  const without = { environment: { SOLANA_RPC_URL: '' } };
  const refusing = await ground.startProcess({ ...without, await_health: false });
  expect(await refusing.exited).toBe(1);
  expect(refusing.logs.join('\n')).toContain('(1 on solana)');

  const again = await ground.start();
  expect(await closed(ground, order)).toMatchObject({ state: 'recorded' });
  await again.stop();
  const after = await ground.start(without);
  expect((await send(after, order)).status).toBe(402);
  expect(await audit(ground)).toBe(1);
});
