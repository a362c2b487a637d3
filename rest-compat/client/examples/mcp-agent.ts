/*
 * Buys by the Model Context Protocol: calls a tool, pays what it costs, and reads the receipt by another tool.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base (PRIVATE_KEY).
 * PAYMENT_FILE names the payment that an earlier run has kept, which is sent again in place of a new one.
 * Prints: the tools, the price, the answer and the receipt. If the outcome of the payment stays unknown: the file that keeps it.
 */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { x402Client } from '@x402/core/client';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { formatUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '', PAYMENT_FILE } = process.env;
/** Two seconds apart: while the service says that the outcome is open, and while no response arrives. */
const [TRIES, CUTS_MAX] = [60, 3];
const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
const payments = new x402Client().register('eip155:*', new ExactEvmScheme(wallet));
const client = new Client({ name: 'mcp-agent', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(`${SERVICE_URL}/mcp`)));

interface Result {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
}
/** x402's MCP transport: a payment is sent in `_meta` of the call, and its outcome is in `_meta` of the result. */
const call = async (name: string, args: object, payment?: PaymentPayload) =>
  (await client.callTool({
    name,
    arguments: { ...args },
    ...(payment && { _meta: { 'x402/payment': payment } }),
  })) as Result;

/** Sends one payment until its outcome is known: after a cut connection it may have been charged, so no other is signed. */
async function callPaid(name: string, args: object, payment: PaymentPayload): Promise<Result> {
  let fault: unknown;
  for (let [tries, cuts] = [0, 0]; tries < TRIES && cuts < CUTS_MAX; tries++) {
    if (tries > 0) await sleep(2_000);
    try {
      const result = await call(name, args, payment);
      if (result.structuredContent?.code !== 'settlement_pending') return result;
    } catch (thrown) {
      fault = thrown;
      cuts++;
      console.error(`${thrown instanceof Error ? thrown.message : thrown}; the same payment is sent again`);
    }
  }
  // The payment can be spent until it expires, so only this user may read the file.
  const file = join(await mkdtemp(join(tmpdir(), 'payment-')), 'payment.json');
  await writeFile(file, JSON.stringify(payment), { mode: 0o600 });
  const next = `Run this program again with PAYMENT_FILE=${file}: the same payment brings the answer or its refusal.`;
  throw new Error(`The outcome of the payment is unknown. ${next}`, { cause: fault });
}

/** Calls a tool and pays for it once, by the kept payment if there is one. @throws Error saying why the tool refused */
async function buy<T>(name: string, args: object, kept?: PaymentPayload): Promise<T> {
  let result = kept ? await callPaid(name, args, kept) : await call(name, args);
  const required = result.structuredContent as unknown as PaymentRequired | undefined;
  if (!kept && result.isError && required?.accepts) {
    const [offer] = required.accepts;
    console.log(`${name} costs ${formatUnits(BigInt(offer?.amount ?? 0), 6)} USDC`);
    result = await callPaid(name, args, await payments.createPaymentPayload(required));
  }
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.structuredContent)}`);
  return result.structuredContent as T;
}

const { tools } = await client.listTools();
console.log(
  `${tools.length} tools, such as ${tools
    .slice(0, 3)
    .map(({ name }) => name)
    .join(', ')}`,
);

const kept =
  PAYMENT_FILE === undefined ? undefined : (JSON.parse(await readFile(PAYMENT_FILE, 'utf8')) as PaymentPayload);
const { choices, svc } = await buy<{
  choices: { message: { content: string } }[];
  svc: { task_id: string; payload_hash: string };
}>('chat_completions', { messages: [{ role: 'user', content: 'What is a spend receipt?' }] }, kept);
console.log(`answer: ${choices[0]?.message.content}`);

// A free tool.
const receipt = await buy<{ payload_hash: string; verify_url: string }>('get_receipt', { task_id: svc.task_id });
if (receipt.payload_hash !== svc.payload_hash) throw new Error('the receipt is not that of the answer');
console.log(`receipt: ${receipt.verify_url}`);
await client.close();
