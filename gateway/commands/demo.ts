import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { createClient } from 'graphql-ws';
import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import WebSocket from 'ws';
import { payingFetch } from '../../rest-compat/client/paying-fetch.ts';
import { type RegisteredAgent, registerAgent } from '../../rest-compat/client/register-agent.ts';
import { atomicAmount, formatUsdc } from '../../schema/amount.ts';
import type { Json } from '../../schema/canonical-json.ts';
import { OperatorFault, UsageFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { type DevelopmentFile, probeService, readDevelopmentFile } from '../operations/development-file.ts';
import { run } from '../operations/run.ts';
import { type Exchange, jsonLines, reportingFetch } from './demo/wire.ts';
import { newDevelopmentWallet } from './development-wallet.ts';

/*
 * `npm run demo` acts as a buyer against a running development service, from the 402 to the new row in the live book. It prints one line
 * for each step. All facts that it needs beforehand are in DATA_DIR/development.json. The official x402 client signs the payments, and our
 * fetch keeps each payment until its outcome is known.
 */

const CHAT = '/v1/chat/completions';

const START = 'start it with `npm start`, and run `npm run demo` in a second terminal';
const REAL_CHAIN =
  'The service uses the chain at BASE_RPC_URL, and this demo spends no real money: run `npm start` without BASE_RPC_URL, then the demo again.';

/**
 * Writes one line for each step. With --verbose it also writes the requests and responses of the step, and `detail`, another result
 * of the step.
 */
type Say = (line: string, detail?: unknown) => void;

const inWords: Say = line => console.log(line);

await run(async () => {
  const is_verbose = isVerbose();
  const development = await findService();
  const { url } = development;
  const say = is_verbose ? withWire(url) : inWords;
  say(`The service answers at ${url}.`);
  await askWithoutPayment(say, url);
  const buyer = await openBuyer(say, development);
  const receipt = await buyChat(say, url, buyer);
  await checkReceipt(say, receipt);
  const agent = await registerBuyer(say, url, buyer);
  await readBook(say, url, agent);
  await watchBook(say, url, agent, buyer);
  await buyChatOnSolana(say, development);
  say(
    `To pay from your own program, read rest-compat/client/README.md. To check a receipt, run: npm run verify -- ${receipt.verify_url}`,
  );
  say(`Open the first receipt in a browser, which verifies it there: ${receipt.verify_url}`);
});

function isVerbose([word, ...more] = process.argv.slice(2)): boolean {
  if (more.length > 0 || (word !== undefined && word !== '--verbose'))
    throw new UsageFault(
      `${[word, ...more].join(' ')}: npm run demo takes no argument but --verbose (npm run demo -- --verbose)`,
    );
  return word !== undefined;
}

/** Facts that the running service has written for new users. @throws OperatorFault if no service can be paid */
async function findService(): Promise<DevelopmentFile> {
  const { data_dir } = readConfig();
  const development = await readDevelopmentFile(data_dir);
  if (development === null)
    throw new OperatorFault(`No development service has run on ${data_dir} (DATA_DIR): ${START}.`);
  const { url } = development;
  switch (await probeService(url)) {
    case 'service':
      return development;
    case 'another':
      throw new OperatorFault(
        `Another program answers at ${url}: stop it, or set PORT to a free port for \`npm start\`; then run \`npm run demo\` again.`,
      );
    case 'nobody':
      throw new OperatorFault(
        `No service answers at ${url}, where the last service with DATA_DIR ${data_dir} ran: ${START}.`,
      );
  }
}

/** Returns a function that, after each step, also writes the HTTP exchanges with the service during the step. */
function withWire(url: string): Say {
  const exchanges: Exchange[] = [];
  globalThis.fetch = reportingFetch(new URL(url).origin, exchange => void exchanges.push(exchange), fetch);
  return (line, detail) => {
    const shown = [...exchanges.splice(0), ...(detail === undefined ? [] : [jsonLines(detail as Json)])];
    console.log(['', line, ...shown.flatMap(lines => ['', ...lines.map(it => `  ${it}`)])].join('\n'));
  };
}

async function askWithoutPayment(say: Say, url: string): Promise<void> {
  const unpaid = await fetch(url + CHAT, { method: 'POST' });
  const offer = (await unpaid.json()) as Offer;
  say(`Sent a chat request without a payment: ${unpaid.status} Payment Required.`);
  say(`The response offers the chat for ${priceIn(offer)}, by the x402 protocol.`);
}

/** The part of a 402 response that every x402 client reads. */
interface Offer {
  readonly accepts: readonly { readonly network: string; readonly maxAmountRequired: string }[];
}

function priceIn({ accepts }: Offer): string {
  const [first] = accepts;
  if (!first) throw new Error('the 402 offers nothing');
  return `${formatUsdc(atomicAmount(BigInt(first.maxAmountRequired)))} on ${accepts.map(it => it.network).join(' or ')}`;
}

/** Creates a wallet that is not registered yet. @throws OperatorFault on a real chain */
async function openBuyer(say: Say, development: DevelopmentFile): Promise<Buyer> {
  const key = await newDevelopmentWallet(development);
  if (key === null) throw new OperatorFault(REAL_CHAIN);
  const wallet = privateKeyToAccount(key);
  say(`Created a wallet, ${wallet.address}, with 1 USDC on the development chain.`);
  const pay = payingFetch({
    payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
    signText: message => wallet.signMessage({ message }),
  });
  return { wallet, pay };
}

interface Buyer {
  readonly wallet: PrivateKeyAccount;
  readonly pay: Fetch;
}

type Fetch = typeof fetch;

async function buyChat(say: Say, url: string, { pay }: Buyer): Promise<Receipt> {
  const { model, choices, svc } = await chat(pay, url, 'What is a spend receipt?');
  say('Signed a payment with it, without an account or gas, and sent the request again with the payment.');
  say(`The answer, from ${model}: ${JSON.stringify(choices[0]?.message.content ?? '')}`);
  say(`The transfer on the chain is ${svc.payment_ref}.`);
  say(`The response contains a signed receipt, ${svc.task_id}, which is leaf ${svc.leaf_index} of the public log.`);
  return svc;
}

interface Chat {
  readonly model: string;
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly svc: Receipt;
}

interface Receipt {
  readonly task_id: string;
  readonly leaf_index: number;
  readonly verify_url: string;
  readonly payment_ref: string;
  readonly payload_hash: string;
  readonly issuer_signature: { readonly jws: string };
  readonly verification: { readonly jwks_uri: string };
}

async function chat(pay: Fetch, url: string, content: string, session?: string): Promise<Chat> {
  const response = await pay(url + CHAT, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(session ? { 'x-svc-session': session } : {}) },
    body: JSON.stringify({ model: 'svc/auto', messages: [{ role: 'user', content }] }),
  });
  return json(response);
}

async function json<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

async function checkReceipt(say: Say, receipt: Receipt): Promise<void> {
  say('Verified the receipt with the published keys: the signature is valid.', await verify(receipt));
  if (!(await isCopyRefused(receipt))) throw new Error('a receipt with a changed amount still verified');
  say('Changed the amount in a copy of the receipt: the signature of the copy is not valid.');
}

/** Verifies a receipt without the service, except for the key set, which is fetched once and could be a file instead. */
async function verify(receipt: Receipt) {
  const keys = createLocalJWKSet(await json(await fetch(receipt.verification.jwks_uri)));
  const { payload } = await jwtVerify(receipt.issuer_signature.jws, keys, { algorithms: ['ES256'] });
  if (payload.payload_hash !== receipt.payload_hash) throw new Error('the receipt is not the one that was signed');
  return payload;
}

/** Whether verification refuses a copy of the receipt with a smaller amount. */
async function isCopyRefused(receipt: Receipt): Promise<boolean> {
  const [head = '', claims = '', signature = ''] = receipt.issuer_signature.jws.split('.');
  const signed = Buffer.from(claims, 'base64url').toString();
  const altered = Buffer.from(signed.replace('"2000"', '"1000"')).toString('base64url');
  if (altered === claims) throw new Error('the receipt names no amount of 2000');
  return verify({ ...receipt, issuer_signature: { jws: [head, altered, signature].join('.') } }).then(
    () => false,
    fault => {
      // Another fault, such as keys that cannot be fetched, proves nothing about the copy.
      if (fault instanceof errors.JWSSignatureVerificationFailed) return true;
      throw fault;
    },
  );
}

async function registerBuyer(say: Say, url: string, { wallet, pay }: Buyer): Promise<RegisteredAgent> {
  const agent = await registerAgent({ pay, url, wallet });
  say(`Registered the wallet, for another payment: it is agent ${agent.agent_id}, and a book lists what it spends.`);
  return agent;
}

async function readBook(say: Say, url: string, { agent_id, session }: RegisteredAgent): Promise<void> {
  const book = await json<RestBook>(
    await fetch(`${url}/v1/agents/${agent_id}/book`, { headers: { 'x-svc-session': session } }),
  );
  say(`Read the book by REST: ${spentIn(book.spent, book.entries.length)}.`);
  const graph = await bookByGraphql(url, agent_id, session);
  const { spent, entries } = graph.data.book;
  say(`Read the book by GraphQL: ${spentIn(spent, entries.length)}.`);
}

interface RestBook {
  readonly spent: string;
  readonly entries: readonly unknown[];
}

interface GraphqlBook {
  readonly data: { readonly book: { readonly spent: string; readonly entries: readonly { readonly seq: number }[] } };
}

async function bookByGraphql(url: string, agentId: number, session: string): Promise<GraphqlBook> {
  const query = `query Book($agentId: Int!) { book(agentId: $agentId) { spent remaining
    entries { seq taskId evidence payment { ref amount } receipt { payloadHash } } } }`;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-session': session },
    body: JSON.stringify({ query, variables: { agentId } }),
  });
  return json(response);
}

function spentIn(spent: string, rows: number): string {
  return `${formatUsdc(atomicAmount(BigInt(spent)))} spent in ${rows} ${rows === 1 ? 'row' : 'rows'}`;
}

async function watchBook(say: Say, url: string, agent: RegisteredAgent, { pay }: Buyer): Promise<void> {
  const { agent_id, session } = agent;
  say('Subscribed to the book over graphql-ws, and paid for a second chat.');
  const live = await liveRow(url, agent_id, session, () => chat(pay, url, 'And who can check it?', session));
  const { position, row } = live.data.bookRows;
  say(`The row of that chat arrived live: ${row.taskId}, event ${position} of the book.`, live);
}

interface LiveRow {
  readonly data: { readonly bookRows: { readonly position: number; readonly row: { readonly taskId: string } } };
}

/** Opens the live feed, calls `act` to cause a row, and returns the event with that row. */
async function liveRow(url: string, agentId: number, session: string, act: () => Promise<unknown>): Promise<LiveRow> {
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
    return value as unknown as LiveRow;
  } finally {
    await client.dispose();
  }
}

/**
 * Pays for a chat on Solana: the offer and the form of the receipt are the same, only the network differs. Skipped if the service
 * does not accept payments on Solana.
 */
async function buyChatOnSolana(
  say: Say,
  { url, solana_rpc_url, solana_wallets: [wallet] }: DevelopmentFile,
): Promise<void> {
  if (!solana_rpc_url || !wallet) return;
  const { createKeyPairSignerFromBytes, getBase58Encoder } = await import('@solana/kit');
  const { ExactSvmScheme } = await import('@x402/svm/exact/client');
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(wallet.private_key));
  const payments = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: solana_rpc_url }));
  const { svc } = await chat(payingFetch({ payments }), url, 'And on Solana?');
  await verify(svc);
  say(`Paid for a third chat on Solana, from ${wallet.address}, and verified its receipt.`);
}
