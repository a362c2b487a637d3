import { x402Client } from '@x402/core/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/client';
import { expect, it } from 'vitest';
import { payingFetch } from '../../../../rest-compat/client/paying-fetch.ts';
import { audit } from '../../../harness/faults/audit.ts';
import { eventually, openGround } from '../../../harness/faults/ground.ts';
import { shortChainWait } from '../../../harness/faults/short-chain-wait.ts';
import { recordFetch } from '../../../harness/openai/record-fetch.ts';

it('our fetch on a Solana that stalls, by x402 v1 and v2: one signature each, answered once it moves, charged once', async () => {
  const ground = await openGround({ solana: true });
  if (!ground.solana) throw new Error('no Solana');
  const { svm } = ground.solana;
  const gateway = await ground.start({ options: shortChainWait });
  const buyer = async (version: 1 | 2) => {
    const { signer } = await svm.newWallet();
    const options = { rpcUrl: svm.rpc_url };
    const payments =
      version === 2
        ? new x402Client().register('solana:*', new ExactSvmScheme(signer, options))
        : new x402Client().registerV1('solana', new ExactSvmSchemeV1(signer, options));
    const seen = recordFetch();
    const pay = payingFetch({ payments, fetch: seen.fetch });
    const body = JSON.stringify({ model: 'test/model', messages: [{ role: 'user', content: `by v${version}` }] });
    const headers = { 'content-type': 'application/json' };
    return { seen, send: () => pay(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body }) };
  };
  const buyers = await Promise.all([buyer(1), buyer(2)]);
  await svm.stall();
  const answers = buyers.map(({ send }) => send());
  for (const { seen } of buyers) await eventually('told to wait', () => seen.answers.length > 0 || null);
  await svm.stall(false);
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
  for (const { seen } of buyers) {
    expect(seen.payments.size).toBe(1);
    const statuses = seen.answers.map(({ status }) => status);
    expect([statuses[0], statuses.at(-1)]).toEqual([503, 200]);
    expect(statuses).not.toContain(402);
  }
  expect(await audit(ground)).toBe(2);
});
