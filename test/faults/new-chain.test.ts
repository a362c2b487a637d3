import { expect, it } from 'vitest';
import { freshChain } from '../harness/chain.ts';
import { jwsOf, nameOf, newBuyer, send } from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';

it('a database in front of another development chain begins a new epoch: nothing of the old one settles there', async () => {
  const ground = await openGround();
  const first = await ground.startDying();
  const buyer = await newBuyer(ground);
  expect((await send(first, await buyer.registration())).status).toBe(200);
  const bought = await buyer.chat('on the first chain');
  const paid = await send(first, bought);
  expect(nameOf(paid)).toBe('200');
  await ground.chain.setAutomine(false);
  const stalled = await buyer.chat('left open there');
  const waiting = send(first, stalled).catch(() => null);
  await eventually('under way', async () => (await claimOf(ground, stalled))?.state === 'settling' || null);
  await first.kill();
  expect(await waiting).toBeNull();

  await writeDownEndings(ground);
  const chain = await freshChain();
  const later = { ...ground, chain };
  const second = await ground.start({ environment: { BASE_RPC_URL: chain.rpc_url } });
  // Its end was written down, because a claim that is final and has bought nothing is deleted.
  const endings = await ground.database.query({ text: 'select claim_key, state, final, reason from ending' });
  expect(endings).toEqual([
    { claim_key: stalled.claim_key, state: 'released', final: true, reason: 'chain_epoch_ended' },
  ]);
  const agents = await ground.database.query({ text: 'select reserved_atomic from book' });
  expect(agents).toEqual([{ reserved_atomic: 0n }]);

  // A payment by a wallet that has money on this chain. The settlement keys are the same and start at their first nonce.
  const newcomer = await newBuyer(later);
  const order = await newcomer.chat('on the second chain');
  expect(nameOf(await send(second, order))).toBe('200');
  expect(await chain.transfers(ground.pay_to)).toHaveLength(1);
  // On this chain the wallet has no money and its payment does not exist.
  expect(await send(second, stalled)).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } });

  const again = await send(second, bought);
  expect(jwsOf(again)).toBe(jwsOf(paid));
  const receipt = async (task_id: unknown) => (await fetch(`${second.url}/receipt/${task_id}.json`)).json();
  expect(await receipt((await claimOf(ground, bought))?.task_id)).toMatchObject({ chain_ended: true });
  expect(await receipt((await claimOf(ground, order))?.task_id)).not.toHaveProperty('chain_ended');
});

/** Copies the end of each claim to a table `ending`, because some claims are deleted at once. */
async function writeDownEndings({ database }: Ground): Promise<void> {
  const statements = [
    'create table ending as select claim_key, state, final, reason from payment_claim with no data',
    `create function write_down() returns trigger language plpgsql as $$ begin
      insert into ending values (new.claim_key, new.state, new.final, new.reason); return new; end $$`,
    `create trigger endings after update on payment_claim for each row
      when (old.state <> 'released' and new.state = 'released') execute function write_down()`,
  ];
  for (const text of statements) await database.query({ text });
}
