import { readFile } from 'node:fs/promises';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { createClient } from 'graphql-ws';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { createPublicClient, createWalletClient, erc20Abi, http } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import WebSocket from 'ws';
import { payingFetch } from '../../rest-compat/client/paying-fetch.ts';
import { OperatorFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { requireNoArguments, run } from '../operations/run.ts';

/*
 * A buyer, from 402 to a live row, against a running development service. Everything it knows beforehand stands in
 * DATA_DIR/development.json; the official x402 client signs the payments, and our fetch keeps each until its outcome is known.
 */

interface Development {
  readonly url: string;
  readonly base_rpc_url: string;
  readonly usdc: `0x${string}`;
  readonly wallets: readonly { readonly private_key: `0x${string}` }[];
  readonly solana_rpc_url: string | null;
  readonly solana_wallets: readonly { readonly address: string; readonly private_key: string }[];
}

interface Receipt {
  readonly task_id: string;
  readonly verify_url: string;
  readonly payment_ref: string;
  readonly payload_hash: string;
  readonly issuer_signature: { readonly jws: string };
  readonly verification: { readonly jwks_uri: string };
}

type Fetch = typeof fetch;

function say(title: string, value: unknown): void {
  console.log(`\n== ${title}\n${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}`);
}

async function json<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** A wallet that nobody has registered yet, with 1 USDC in it. */
async function freshBuyer(development: Development): Promise<PrivateKeyAccount> {
  const [rich] = development.wallets;
  if (!rich) throw new Error('development.json names no wallet');
  const transport = http(development.base_rpc_url);
  const wallet = createWalletClient({ account: privateKeyToAccount(rich.private_key), chain: base, transport });
  const buyer = privateKeyToAccount(generatePrivateKey());
  const transfer = { abi: erc20Abi, functionName: 'transfer', args: [buyer.address, 1_000_000n] } as const;
  const hash = await wallet.writeContract({ address: development.usdc, ...transfer });
  await createPublicClient({ chain: base, transport }).waitForTransactionReceipt({ hash });
  return buyer;
}

async function chat(pay: Fetch, url: string, content: string, session?: string) {
  const response = await pay(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(session ? { 'x-svc-session': session } : {}) },
    body: JSON.stringify({ model: 'svc/auto', messages: [{ role: 'user', content }] }),
  });
  return json<{ choices: { message: { content: string } }[]; svc: Receipt }>(response);
}

/** Offline but for the key set, which is fetched once and could as well be a file. */
async function verify(receipt: Receipt) {
  const keys = createLocalJWKSet(await json(await fetch(receipt.verification.jwks_uri)));
  const { payload } = await jwtVerify(receipt.issuer_signature.jws, keys, { algorithms: ['ES256'] });
  if (payload.payload_hash !== receipt.payload_hash) throw new Error('the receipt is not the one that was signed');
  return payload;
}

async function register(pay: Fetch, url: string, buyer: PrivateKeyAccount) {
  const at = Math.floor(Date.now() / 1000);
  const response = await pay(`${url}/v1/agents/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      agentWallet: buyer.address,
      wallet_signature: await buyer.signMessage({ message: `svc.register.pay|${buyer.address}|${at}` }),
      signature_timestamp: at,
    }),
  });
  return json<{ agent_id: number; session: string }>(response);
}

async function bookByGraphql(url: string, agentId: number, session: string) {
  const query = `query Book($agentId: Int!) { book(agentId: $agentId) { spent remaining
    entries { seq taskId evidence payment { ref amount } receipt { payloadHash } } } }`;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-session': session },
    body: JSON.stringify({ query, variables: { agentId } }),
  });
  return json(response);
}

/** Opens the live feed, lets `act` cause a row, and returns the event that told of it. */
async function liveRow(url: string, agentId: number, session: string, act: () => Promise<unknown>): Promise<unknown> {
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { session },
  });
  try {
    const query = `subscription Rows($agentId: Int!, $after: Int) { bookRows(agentId: $agentId, after: $after) {
      position kind row { seq taskId evidence payment { ref amount } receipt { payloadHash } } } }`;
    const events = client.iterate({ query, variables: { agentId, after: 1 } });
    const first = events.next();
    await act();
    const { value } = await first;
    if (value.errors) throw new Error(`the live feed answered ${JSON.stringify(value.errors)}`);
    return value;
  } finally {
    await client.dispose();
  }
}

/** A chat paid on Solana: the same offer, the same receipt, another network. Nothing where the service takes none there. */
async function chatOnSolana({ url, solana_rpc_url, solana_wallets: [wallet] }: Development): Promise<void> {
  if (!solana_rpc_url || !wallet) return;
  const { createKeyPairSignerFromBytes, getBase58Encoder } = await import('@solana/kit');
  const { ExactSvmScheme } = await import('@x402/svm/exact/client');
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(wallet.private_key));
  const payments = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: solana_rpc_url }));
  const { svc } = await chat(payingFetch({ payments }), url, 'And on Solana?');
  await verify(svc);
  say(`paid on Solana by ${wallet.address}; the receipt, verified offline`, svc.payment_ref);
}

const START = 'start it with `npm start`, and run this beside it';

/** What the running service has written for newcomers. @throws OperatorFault where there is none to pay. */
async function findService(): Promise<Development> {
  const { data_dir } = readConfig();
  const text = await readFile(`${data_dir}/development.json`, 'utf8').catch(() => null);
  if (text === null) throw new OperatorFault(`No development service has run on ${data_dir} (DATA_DIR): ${START}.`);
  const development = JSON.parse(text) as Development;
  const answer = await fetch(`${development.url}/livez`).catch(() => null);
  await answer?.body?.cancel();
  if (answer === null) throw new OperatorFault(`No service answers at ${development.url}: ${START}.`);
  return development;
}

await run(async () => {
  requireNoArguments();
  const development = await findService();
  const { url } = development;

  const unpaid = await fetch(`${url}/v1/chat/completions`, { method: 'POST' });
  say(`POST /v1/chat/completions, unpaid: ${unpaid.status}`, await unpaid.json());

  const buyer = await freshBuyer(development);
  const pay = payingFetch({
    payments: new x402Client().register('eip155:*', new ExactEvmScheme(buyer)),
    signText: message => buyer.signMessage({ message }),
  });

  const answer = await chat(pay, url, 'What is a spend receipt?');
  say(`paid with 0.002 USDC by ${buyer.address}; the answer`, answer.choices[0]?.message.content ?? '');
  say('the receipt', answer.svc);
  say('its signed claims, verified offline with the published key set', await verify(answer.svc));

  const { agent_id, session } = await register(pay, url, buyer);
  say('registered', `agent ${agent_id}`);
  const headers = { 'x-svc-session': session };
  say('the book, by REST', await json(await fetch(`${url}/v1/agents/${agent_id}/book`, { headers })));
  say('the book, by GraphQL', await bookByGraphql(url, agent_id, session));
  say(
    'a row, live over graphql-ws while the next chat is paid',
    await liveRow(url, agent_id, session, () => chat(pay, url, 'And who can check it?', session)),
  );
  await chatOnSolana(development);
});
