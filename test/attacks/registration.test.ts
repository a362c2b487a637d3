import { beforeAll, expect, it } from 'vitest';
import { registerByReceipt } from '../../subgraphs/session/registration/by-receipt.ts';
import { newTask, newWallet, openDesk, payerOf, requestOf, type SessionDesk } from '../harness/session/desk.ts';
import { walletsAnswering } from '../harness/session/wallets.ts';

/* An unpaid registration calls no wallet contract if the stored records already decide its outcome. */

let desk: SessionDesk;
beforeAll(async () => {
  desk = await openDesk();
});

it('by a receipt that nobody has, or that another wallet has: no wallet is asked', async () => {
  const asked = walletsAnswering('invalid');
  const account = newWallet();
  const context = { ...desk.context, wallets: asked };
  const unknown = newTask();
  const request = await requestOf(account, { task_id: unknown });
  await expect(registerByReceipt(request, unknown, context)).rejects.toMatchObject({ code: 'receipt_not_qualifying' });

  const owner = newWallet();
  const task_id = newTask();
  await desk.register(owner, task_id);
  const stolen = await requestOf(account, { task_id });
  await expect(registerByReceipt(stolen, task_id, context)).rejects.toMatchObject({ code: 'payer_mismatch' });
  expect(asked.calls).toEqual([]);
});

it('by the stamp of another wallet, or where it is registered: no wallet is asked', async () => {
  const asked = walletsAnswering('invalid');
  const context = { ...desk.context, wallets: asked };
  const [account, other] = [newWallet(), newWallet()];
  const request = await requestOf(account);
  await expect(desk.paid.admit?.(request, payerOf(other), context)).rejects.toMatchObject({ code: 'payer_mismatch' });
  await desk.register(account);
  await expect(desk.paid.admit?.(request, payerOf(account), context)).rejects.toMatchObject({
    code: 'wallet_registered',
  });
  expect(asked.calls).toEqual([]);
});
