import { randomUUID } from 'node:crypto';
import { type Message, Role, type Task } from '@a2a-js/sdk';
import { type Client, ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import type { PaymentRequired } from '@x402/core/types';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type Fetch, officialClient, type Wallet } from '../buyer.ts';
import type { Service } from '../doors/open-service.ts';
import type { TableAnswer } from '../doors/table.ts';

/* Helpers that buy by the official A2A client, and that send JSON-RPC requests written by hand. */

export const A2A = '/a2a-message';
export const X402 = 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2';
export const X402_V01 = 'https://github.com/google-a2a/a2a-x402/v0.1';

/** A client of the official SDK for the service's agent card. */
export function agentAt({ url }: Pick<Service, 'url'>, by: Fetch = fetch, legacy = false): Promise<Client> {
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl: by, ...(legacy ? { legacyCompat: { enabled: true } } : {}) }),
  ];
  return new ClientFactory({ transports }).createFromUrl(url);
}

export function message(text: string, members: Partial<Message> = {}): Message {
  return {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: text === '' ? [] : [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...members,
  };
}

export const textPart = (text: string): Message['parts'][number] => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export const dataPart = (value: JsonObject): Message['parts'][number] => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export const sendRequest = (message: Message) => ({
  tenant: '',
  message,
  configuration: undefined,
  metadata: undefined,
});

/** The text in the artifacts of a task. */
export function textOf({ artifacts }: Pick<Task, 'artifacts'>): string {
  return artifacts
    .flatMap(({ parts }) => parts)
    .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
    .join('');
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: readonly (JsonObject & { readonly reason?: string })[];
}
export interface Rpc<R = JsonObject> {
  readonly jsonrpc: string;
  readonly id: string | number | null;
  readonly result: R;
  readonly error: RpcError;
}

/** Sends one JSON-RPC request written by hand, under version 1.0 of A2A unless the headers name another. */
export function rpc<R = JsonObject>(
  service: Service,
  method: string,
  params: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): Promise<TableAnswer<Rpc<R>>> {
  const body = { jsonrpc: '2.0', id: 7, method, params };
  return service.knock<Rpc<R>>('POST', A2A, { body, headers: { 'A2A-Version': '1.0', ...headers } });
}

/** Parameters of a message, written by hand. */
export const rawMessage = (text: string, members: JsonObject = {}): JsonObject => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...members },
});

/** The payment that the official x402 client makes for a task's `required`, as metadata of the message that pays. */
export async function paymentMetadata(account: Wallet, required: unknown): Promise<JsonObject> {
  const payload = await officialClient(account).createPaymentPayload(required as PaymentRequired);
  return { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload as unknown as JsonObject };
}

/** The header by which a wallet proves that it paid for a task: its address, the time and its signature over both. */
export async function payerHeader(
  { url }: Pick<Service, 'url'>,
  account: Pick<Wallet, 'address'> & { signMessage(text: { message: string }): Promise<string> },
  at_seconds = Math.floor(Date.now() / 1000),
): Promise<Record<string, string>> {
  const signature = await account.signMessage({ message: `svc.tasks|${url}|base|${account.address}|${at_seconds}` });
  return { 'X-SVC-Payer': `base:${account.address}:${at_seconds}:${signature}` };
}
