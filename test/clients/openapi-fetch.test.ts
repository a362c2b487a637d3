import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import openapiTS, { astToString } from 'openapi-typescript';
import { beforeAll, expect, it } from 'vitest';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';

const run = promisify(execFile);

let service: Service;
let folder: string;
let described: object;

/** A project of somebody else's, whose types are made of what the service says of itself. */
beforeAll(async () => {
  [service, folder] = await Promise.all([openService(), ownFolder()]);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  described = (await (await fetch(`${service.url}/openapi.json`)).json()) as object;
  const types = await openapiTS(described as Parameters<typeof openapiTS>[0]);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'service.d.ts'), astToString(types));
  await writeFile(join(folder, 'client.ts'), program);
});

/** Wherever a type is not what the service describes it does not compile. */
const program = `import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import createClient from 'openapi-fetch';
import { privateKeyToAccount } from 'viem/accounts';
import type { components, paths, webhooks } from './service.d.ts';

const [baseUrl = '', key = ''] = process.argv.slice(2);
const payer = privateKeyToAccount(key as \`0x\${string}\`);
const pay = wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(payer)));
const service = createClient<paths>({ baseUrl, fetch: pay });

const at = Math.floor(Date.now() / 1000);
const wallet_signature = await payer.signMessage({ message: \`svc.register.pay|\${payer.address}|\${at}\` });
const registered = await service.POST('/v1/agents/register', {
  body: { agentWallet: payer.address, wallet_signature, signature_timestamp: at },
});
if (!registered.data) throw new Error(JSON.stringify(registered.error));
const { agent_id, session } = registered.data;

const chat = await service.POST('/v1/chat/completions', {
  params: { header: { 'X-SVC-Session': session } },
  body: { messages: [{ role: 'user', content: 'Hello' }] },
});
// It may be streamed: then its data are chunks, and an error where it broke off.
if (!chat.data || 'error' in chat.data || chat.data.object !== 'chat.completion') throw new Error(JSON.stringify(chat.error));
const { task_id }: components['schemas']['ReceiptInAnswer'] = chat.data.svc;

const receipt = await service.GET('/receipt/{task_id}', { params: { path: { task_id } } });
// With format=auditor it is another document.
if (!receipt.data || !('payload' in receipt.data)) throw new Error(JSON.stringify(receipt.error));
const ref: string | undefined = receipt.data.payload.payment?.ref;
const inclusion = await service.GET('/log/inclusion', { params: { query: { task_id } } });
const proof = await service.GET('/prove-result', { params: { query: { task_id } } });
const path: readonly string[] | undefined = inclusion.data?.path ?? proof.data?.inclusion?.path;
const book = await service.GET('/v1/agents/{agent_id}/book', {
  params: { path: { agent_id }, query: { limit: 5 }, header: { 'X-SVC-Session': session } },
});
const entry: components['schemas']['BookEntry'] | undefined = book.data?.entries[0];

const own = { path: { agent_id }, header: { 'X-SVC-Session': session } };
const escrow = await service.POST('/v1/agents/{agent_id}/book/escrow', {
  params: own,
  body: { action: 'open', task_id, required: { proof_tier: 'inference' } },
});
const state: 'open' | 'released' | 'clawed_back' | 'expired' | undefined = escrow.data?.state;
const dispute = await service.POST('/v1/agents/{agent_id}/book/dispute', {
  params: own,
  body: { task_id, claim_type: 'output_missing' },
});
const outcome: 'refund' | 'partial' | 'stand' | null | undefined = dispute.data?.outcome;
const webhook = await service.PUT('/v1/agents/{agent_id}/book/webhook', {
  params: own,
  body: { url: 'https://hooks.invalid/in', events: ['collected'] },
});
const secret: string | undefined = webhook.data?.secret_once;
export const read = (message: webhooks['book_event']['post']['requestBody']['content']['application/json']) =>
  [message.kind satisfies 'ping' | components['schemas']['BookWebhook']['supported_events'][number] | 'alert' | 'approval' | 'given_up' | 'bid' | 'escrow_offer', message.row?.task_id];

const heard = { receipt: receipt.data, book: book.data, chat: chat.data };
const logged = { inclusion: inclusion.data, proof: proof.data };
const later = { escrow: escrow.data, dispute: dispute.data, webhook: webhook.data };
console.log(JSON.stringify({ ref, entry, said: [state, outcome, typeof secret, path?.length], ...heard, ...logged, ...later }));
`;

it('a client of openapi-typescript and openapi-fetch compiles', async () => {
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
  const types = ['--types', 'node', '--allowImportingTsExtensions'];
  const compiled = await run(tsc, [...options, ...types, 'client.ts'], { cwd: folder }).catch(error => error);
  expect(compiled.stdout).toBe('');
});

it('and pays, registers and reads its book; what it heard is as the document says', async () => {
  const payer = await service.chain.newWallet();
  const { stdout } = await run(process.execPath, ['client.ts', service.url, payer.private_key], { cwd: folder });
  const { ref, entry, said, ...heard } = JSON.parse(stdout);
  const transfers = await service.transfersFrom(payer);
  expect(transfers).toHaveLength(2);
  expect(ref).toBe(`base:${transfers[1]?.tx_hash}`);
  expect(entry.payment.ref).toBe(ref);
  expect(said).toEqual(['open', 'stand', 'string', 1]);
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(described, 'openapi');
  const bought = { receipt: 'Receipt', book: 'Book', chat: 'ChatCompletion' };
  const logged = { inclusion: 'InclusionProof', proof: 'ResultProof' };
  const written = { escrow: 'LedgerEscrow', dispute: 'Dispute', webhook: 'SetWebhook' };
  for (const [name, component] of Object.entries({ ...bought, ...logged, ...written })) {
    const fits = ajv.getSchema(`openapi#/components/schemas/${component}`);
    expect([fits?.(heard[name]), fits?.errors], component).toEqual([true, null]);
  }
});
