/*
 * Buys by the Model Context Protocol: calls a tool, pays what it costs, and reads the receipt by another tool.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base (PRIVATE_KEY).
 * Prints: the tools, the price, the answer and the receipt.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { x402Client } from '@x402/core/client';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { formatUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '' } = process.env;
/** Two seconds apart. */
const TRIES = 60;
const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
const payments = new x402Client().register('eip155:*', new ExactEvmScheme(wallet));
const client = new Client({ name: 'mcp-agent', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(`${SERVICE_URL}/mcp`)));

interface Result {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
}
/** x402's MCP transport: a payment goes in `_meta`, and what it has come to is there in the result. */
const call = async (name: string, args: object, payment?: PaymentPayload) =>
  (await client.callTool({
    name,
    arguments: { ...args },
    ...(payment && { _meta: { 'x402/payment': payment } }),
  })) as Result;

/** Calls a tool and pays for it once. @throws Error saying why the tool refused */
async function buy<T>(name: string, args: object): Promise<T> {
  let result = await call(name, args);
  const required = result.structuredContent as unknown as PaymentRequired | undefined;
  if (result.isError && required?.accepts) {
    const [offer] = required.accepts;
    console.log(`${name} costs ${formatUnits(BigInt(offer?.amount ?? 0), 6)} USDC`);
    const payment = await payments.createPaymentPayload(required);
    result = await call(name, args, payment);
    // The outcome is open: money may have moved. The same payment is shown again, and no other is signed.
    for (let tries = 1; tries <= TRIES && result.structuredContent?.code === 'settlement_pending'; tries++) {
      await sleep(2_000);
      result = await call(name, args, payment);
    }
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

const { choices, svc } = await buy<{
  choices: { message: { content: string } }[];
  svc: { task_id: string; payload_hash: string };
}>('chat_completions', { messages: [{ role: 'user', content: 'What is a spend receipt?' }] });
console.log(`answer: ${choices[0]?.message.content}`);

// A free tool.
const receipt = await buy<{ payload_hash: string; verify_url: string }>('get_receipt', { task_id: svc.task_id });
if (receipt.payload_hash !== svc.payload_hash) throw new Error('the receipt is not that of the answer');
console.log(`receipt: ${receipt.verify_url}`);
await client.close();
