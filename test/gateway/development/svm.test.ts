import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme as ClientScheme } from '@x402/svm/exact/client';
import { ExactSvmScheme as FacilitatorScheme } from '@x402/svm/exact/facilitator';
import { describe, expect, it } from 'vitest';
import { endProcess } from '../../../gateway/development/spawn-detached.ts';
import { markOf, type ProcessMark } from '../../../gateway/operations/process-identity.ts';
import { networks } from '../../../schema/network.ts';
import { signerOf, svmProcess, type TestSvm } from '../../harness/svm.ts';

const network = networks.solana.caip2;

/** A payment as the official client makes it, and the official facilitator that takes it. */
async function paymentOn(svm: TestSvm, amount = '2000') {
  const payer = await svm.newWallet();
  const payTo = await svm.newTreasury();
  const feePayer = svm.fee_payer.address;
  const terms = {
    scheme: 'exact',
    network,
    amount,
    asset: networks.solana.usdc,
    payTo,
    maxTimeoutSeconds: 60,
  } as const;
  const requirements = { ...terms, extra: { feePayer } };
  const client = new ClientScheme(payer.signer, { rpcUrl: svm.rpc_url });
  const made = await client.createPaymentPayload(2, requirements);
  const resource = { url: 'http://127.0.0.1/', description: '', mimeType: '' };
  const payload = { ...made, x402Version: 2, resource, accepted: requirements } as never;
  const signer = toFacilitatorSvmSigner(await signerOf(svm.fee_payer), { defaultRpcUrl: svm.rpc_url });
  const facilitator = new FacilitatorScheme(signer as never);
  return {
    payer,
    payTo,
    verify: () => facilitator.verify(payload, requirements),
    settle: () => facilitator.settle(payload, requirements),
    /** As the facilitator sends it: with both signatures. */
    signed: () => signer.signTransaction(String(made.payload.transaction), feePayer as never, network),
  };
}

async function killed(svm: { readonly pid: number }): Promise<void> {
  await endProcess(markOf(svm.pid) as ProcessMark, ['SIGKILL']);
}

interface Status {
  readonly err: unknown;
  readonly confirmationStatus: string;
}

async function statusOf(svm: TestSvm, signature: string): Promise<Status | null> {
  const options = { searchTransactionHistory: true };
  const { value } = await svm.call<{ value: (Status | null)[] }>('getSignatureStatuses', [signature], options);
  return value[0] ?? null;
}

const send = (svm: TestSvm, raw: string, skipPreflight: boolean) =>
  svm.call<string>('sendTransaction', raw, { encoding: 'base64', skipPreflight });

describe('the development SVM', () => {
  it('takes a payment of the official client by the official facilitator', async () => {
    const svm = await svmProcess();
    const { payer, payTo, verify, settle } = await paymentOn(svm);
    expect(await verify()).toMatchObject({ isValid: true, payer: payer.address });
    const settled = await settle();
    expect(settled).toMatchObject({ success: true });
    expect(await svm.transfers(payTo)).toEqual([
      expect.objectContaining({ signature: settled.transaction, from: payer.address, amount_atomic: 2000n }),
    ]);
    expect(await svm.balanceOf(payer.address)).toBe(999_998_000n);
  });

  it('loses nothing it has answered for by its own kill, nor by a journal whose last line is cut', async () => {
    const svm = await svmProcess();
    const { payTo, signed } = await paymentOn(svm);
    const signature = await send(svm, await signed(), false);
    const blockhash = await svm.call('getLatestBlockhash', { commitment: 'confirmed' });
    await killed(svm);
    await appendFile(join(svm.folder, 'svm', 'journal.jsonl'), '{"kind":"transaction","slot":1');
    const again = await svm.restart();
    expect(again).toMatchObject({
      kind: 'running',
      rpc_url: svm.rpc_url,
      genesis_hash: svm.genesis_hash,
      adopted: false,
    });
    expect(await svm.balanceOf(payTo)).toBe(2000n);
    expect(await statusOf(svm, signature)).toMatchObject({ err: null });
    const { value } = blockhash as { value: { blockhash: string } };
    expect(await svm.call('isBlockhashValid', value.blockhash)).toMatchObject({ value: true });
    await svm.fund(payTo, { usdc_atomic: 1n });
    expect(await readFile(join(svm.folder, 'svm', 'journal.jsonl'), 'utf8')).toMatch(/\n$/);
    expect(await svm.restart()).toMatchObject({ adopted: true });
  });

  it('refuses what it has executed already, what nobody signed and what is too old', async () => {
    const svm = await svmProcess();
    const { payTo, signed } = await paymentOn(svm);
    const raw = await signed();
    const signature = await send(svm, raw, false);
    await expect(send(svm, raw, false)).rejects.toThrow('AlreadyProcessed');
    expect(await send(svm, raw, true)).toBe(signature);
    const unsigned = Buffer.from(raw, 'base64');
    unsigned.fill(1, 1, 65);
    await expect(send(svm, unsigned.toString('base64'), false)).rejects.toThrow('SignatureFailure');
    const old = await paymentOn(svm);
    const late = await old.signed();
    await svm.expire();
    await expect(send(svm, late, false)).rejects.toThrow('BlockhashNotFound');
    expect(await old.verify()).toMatchObject({ isValid: false });
    const dropped = await send(svm, late, true);
    expect(await statusOf(svm, dropped)).toBeNull();
    expect(await svm.transfers(payTo)).toHaveLength(1);
  });

  it('holds transactions while stalled, executes those that are still valid, and finalizes after 32 slots', async () => {
    const svm = await svmProcess();
    const [soon, late] = [await paymentOn(svm), await paymentOn(svm)];
    await svm.stall();
    const first = await send(svm, await soon.signed(), false);
    expect(await statusOf(svm, first)).toBeNull();
    expect(await svm.waiting()).toEqual([first]);
    await svm.stall(false);
    expect(await statusOf(svm, first)).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
    await svm.finalize();
    expect(await statusOf(svm, first)).toMatchObject({ confirmationStatus: 'finalized' });
    await svm.stall();
    const second = await send(svm, await late.signed(), false);
    await svm.expire();
    await svm.stall(false);
    expect(await statusOf(svm, second)).toBeNull();
    expect(await svm.balanceOf(late.payTo)).toBe(0n);
  });

  it('lets a failed transaction stand with its error, and takes back one whose fork was abandoned', async () => {
    const svm = await svmProcess();
    const { payTo, payer, signed } = await paymentOn(svm, '2000000000');
    const raw = await signed();
    await expect(send(svm, raw, false)).rejects.toThrow('"Custom":1');
    const signature = await send(svm, raw, true);
    expect(await statusOf(svm, signature)).toMatchObject({ err: { InstructionError: [2, { Custom: 1 }] } });
    expect(await svm.balanceOf(payer.address)).toBe(1_000_000_000n);
    const good = await paymentOn(svm);
    const { transaction } = await good.settle();
    expect(await svm.balanceOf(good.payTo)).toBe(2000n);
    await svm.forget(transaction);
    expect(await svm.balanceOf(good.payTo)).toBe(0n);
    expect(await statusOf(svm, transaction)).toBeNull();
    expect(await send(svm, await good.signed(), true)).toBe(transaction);
    await killed(svm);
    await svm.restart();
    expect(await svm.balanceOf(good.payTo)).toBe(2000n);
    expect(await statusOf(svm, signature)).not.toBeNull();
    expect(await svm.balanceOf(payTo)).toBe(0n);
  });
});
