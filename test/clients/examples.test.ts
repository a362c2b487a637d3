import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { beforeAll, expect, it } from 'vitest';
import { exampleNeeds } from '../../gateway/commands/example/needs.ts';
import { watchDashboardBook } from '../../rest-compat/client/examples/dashboard-apollo/book.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { verifyRefusal } from '../../subgraphs/receipt/verify/refusal.ts';
import { openAlteringProxy } from '../harness/altering-proxy.ts';
import { openService, resetHubsBeforeEach, type Service } from '../harness/doors/open-service.ts';
import { developmentFolder, EXAMPLES, examplesAt, runNode, startNode } from '../harness/examples.ts';
import { transactionsOf } from '../harness/export/journal.ts';
import { ownPort } from '../harness/own-port.ts';
import { atEnd } from '../harness/release.ts';
import { ownFolder } from '../harness/scratch.ts';

/* Each example as its reader runs it: what it prints, and what came of it at the service. */

let service: Service;
beforeAll(async () => {
  // Only so it delivers webhooks to this machine.
  service = await openService({ NODE_ENV: 'test' });
});
resetHubsBeforeEach(() => service);

const RUNNER = 'gateway/commands/example.ts';
const { runExample, startExample } = examplesAt(() => service);

/** What an example prints behind these words in a line. */
function printed(text: string, words: string): string {
  const line = text.split('\n').find(one => one.includes(words));
  if (line === undefined) throw new Error(`it does not print "${words}": ${text}`);
  return line.slice(line.indexOf(words) + words.length);
}

/** The receipt whose link an example prints, if it verifies. */
async function receiptIn(out: string): Promise<JsonObject> {
  const link = printed(out, 'receipt: ');
  const receipt = (await (await fetch(`${link}.json`)).json()) as JsonObject;
  expect(verifyReceipt(receipt, await service.jwks())).toMatchObject({ kind: 'valid' });
  return receipt;
}

/** The session that an example has written to a file that only its user can read, and has not printed. */
async function sessionOf(out: string): Promise<{ agent_id: string; session: string }> {
  const [, file = ''] = /^registered agent \d+; AGENT_ID and SESSION are in (\S+)$/m.exec(out) ?? [];
  const [, agent_id = '', session = ''] = /^AGENT_ID=(\d+)\nSESSION=(\S+)\n$/.exec(await readFile(file, 'utf8')) ?? [];
  expect(await modeOf(file)).toBe('600');
  expect(out).not.toContain(session);
  return { agent_id, session };
}
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

const done = { code: 0, err: '' };

it('npm run example lists each example as the README has it; one that is not there is named, with the list', async () => {
  const [list, unknown, page] = await Promise.all([
    runNode(RUNNER, [], {}),
    runNode(RUNNER, ['by-chat'], {}),
    readFile(join(EXAMPLES, 'README.md'), 'utf8'),
  ]);
  const names = [...exampleNeeds.keys()];
  const listed = [...list.out.matchAll(/^ {2}(\S+) +\S+/gm)].map(([, name]) => name);
  expect([list.code, listed]).toEqual([0, names]);
  expect([...page.matchAll(/^- \[`(\S+)`\]\(\1\.ts\): \S/gm)].map(([, name]) => name).sort()).toEqual(names);
  expect(unknown).toEqual({ code: 2, out: '', err: `There is no example by-chat.\n${list.out}` });
});

it('npm run example -- buy-chat pays from a new wallet of the development chain; verify-receipt verifies what it has bought', async () => {
  const DATA_DIR = await developmentFolder(service);
  const { code, out, err } = await runNode(RUNNER, ['buy-chat'], { DATA_DIR });
  expect(code).toBe(0);
  const [, payer = ''] = /^PRIVATE_KEY is not set: (0x\w{40}) is used/.exec(err) ?? [];
  expect(out).toMatch(/^answer: .*You said: "What is a spend receipt\?"/);
  const receipt = await receiptIn(out);
  expect(printed(out, 'paid 0.002 USDC in ')).toBe(receipt.payment_ref);
  expect(await service.transfersFrom({ address: payer as `0x${string}` })).toMatchObject([{ amount_atomic: 2_000n }]);

  const altered = join(DATA_DIR, 'altered.json');
  await writeFile(altered, JSON.stringify({ ...receipt, amount: '1' }));
  const [valid, invalid] = await Promise.all([
    runExample('verify-receipt', {}, printed(out, 'receipt: ')),
    runExample('verify-receipt', {}, altered),
  ]);
  expect(valid).toEqual({ ...done, out: `valid: ${payer} paid 2000 atomic USDC in ${receipt.payment_ref}\n` });
  expect(invalid).toEqual({ code: 1, out: '', err: 'invalid: amount is not what was signed\n' });
});

it('buy-chat with a wallet that holds nothing says why nothing was paid, and fails', async () => {
  const { private_key } = await service.chain.newWallet(0n);
  const { code, out, err } = await runExample('buy-chat', { PRIVATE_KEY: private_key });
  expect([code, out, err]).toEqual([1, '', expect.stringMatching(/^Nothing was paid: .*insufficient/)]);
});

it.each(['buy-with-openai-sdk', 'buy-with-anthropic-sdk'])('%s prints answer, model and receipt', async name => {
  const { out, ...end } = await runExample(name);
  expect(end).toEqual(done);
  expect(out).toMatch(/^answer: .*What is a spend receipt\?.*\nmodel: (alpha|beta)-\d, \d+ tokens\nreceipt: /s);
  expect(await receiptIn(out)).toMatchObject({ amount: '2000' });
});

it('stream asks again with the same payment after its hub has broken off, and the money moves once', async () => {
  let asked = 0;
  for (const hub of service.hubs)
    hub.behave(() =>
      asked++ === 0 ? { kind: 'answer', in_stream: { after_words: 2, does: 'close' } } : { kind: 'answer' },
    );
  const { code, out, err } = await runExample('stream');
  expect([code, err]).toEqual([0, expect.stringContaining('ended its answer before it was complete')]);
  expect(out).toContain('You said: "What is a spend receipt?"');
  const { payer_wallet } = (await receiptIn(out)) as { payer_wallet: `0x${string}` };
  expect(await service.transfersFrom({ address: payer_wallet })).toHaveLength(1);
});

it('stream asks again with the same payment after a proxy has ended the stream cleanly, and the money moves once', async () => {
  let cuts = 0;
  const SERVICE_URL = await openAlteringProxy(service, ({ answer: { status, text } }) =>
    status === 200 && cuts++ < 2 ? (text.split('data: [DONE]')[0] ?? '') : text,
  );
  const { code, out, err } = await runExample('stream', { SERVICE_URL });
  expect([code, err.match(/the connection was cut; asking again with the same payment/g)]).toMatchObject([0, [{}, {}]]);
  const { payer_wallet } = (await receiptIn(out)) as { payer_wallet: `0x${string}` };
  expect([cuts, await service.transfersFrom({ address: payer_wallet })]).toMatchObject([
    3,
    [{ amount_atomic: 2_000n }],
  ]);
});

it('stream says why the request was refused, and does not ask again', async () => {
  const { private_key } = await service.chain.newWallet(0n);
  const { code, err } = await runExample('stream', { PRIVATE_KEY: private_key });
  expect([code, err]).toEqual([1, expect.stringMatching(/Error: 402: /)]);
  expect(err).not.toContain('asking again');
});

it('agent-with-budget is alerted, and stops at a refusal that verifies', async () => {
  const { out, ...end } = await runExample('agent-with-budget');
  expect(end).toEqual(done);
  await sessionOf(out);
  const lines = out.trimEnd().split('\n').slice(2);
  const left = ['0.006 USDC', '0.004 USDC', '0.002 USDC', '0 USDC'];
  expect(lines.slice(0, 5)).toEqual([
    ...left.map((amount, at) => `call ${at + 1}: ${amount} left`),
    'call 5 was refused: budget_exhausted',
  ]);
  expect(lines.slice(6)).toEqual(['alert: threshold 60 % of budget', 'alert: threshold 90 % of budget']);
  const link = printed(out, 'refusal (signature valid): ');
  const refusal = (await service.get(link.replace(service.url, ''))).body;
  expect(verifyRefusal(refusal, await service.jwks())).toMatchObject({ kind: 'valid' });
});

it.each<[string, (refusal: JsonObject) => JsonObject]>([
  ['another code', refusal => ({ ...refusal, policy_code: 'daily_cap_exceeded' })],
  // Nothing answers there: what the refusal names is not even requested.
  [
    'keys of somebody else',
    ({ verification, ...refusal }) => ({
      ...refusal,
      verification: { ...(verification as JsonObject), jwks_uri: 'http://127.0.0.1:1/' },
    }),
  ],
])('agent-with-budget says that a refusal forged to name %s is not signed', async (_, forge) => {
  const SERVICE_URL = await openAlteringProxy(service, ({ answer: { status, text } }) =>
    status === 403 ? JSON.stringify(forge(JSON.parse(text))) : text,
  );
  const { code, out } = await runExample('agent-with-budget', { SERVICE_URL });
  expect([code, out]).toEqual([0, expect.stringMatching(/^refusal \(NOT signed by the service\): /m)]);
});

it('agent-with-budget finds a refusal signed that comes by another address of its service', async () => {
  const SERVICE_URL = await openAlteringProxy(service, ({ answer: { text } }) => text);
  const { code, out } = await runExample('agent-with-budget', { SERVICE_URL });
  expect([code, out]).toEqual([0, expect.stringMatching(/^refusal \(signature valid\): /m)]);
});

it('delegate-session spends its cap and no more, and ends with the revocation', async () => {
  const { out, ...end } = await runExample('delegate-session');
  expect(end).toEqual(done);
  expect(out.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^call 1: paid, http/),
    expect.stringMatching(/^call 2: paid, http/),
    'call 3: session_cap_exceeded',
    'the agent reads: spent 0.004 USDC, 0 left',
    'status: revoked',
  ]);
});

it('approve-call is refused, shows what is asked for, and passes once its wallet has approved', async () => {
  const { out, ...end } = await runExample('approve-call');
  expect(end).toEqual(done);
  expect(out).toMatch(/^refused: tier2_approval_missing, nothing was charged/m);
  expect(out).toContain('waits for an approval: 0.002 USDC (Asks before a large purchase.)');
  expect(printed(out, 'the request: ')).toContain('Book the flight for 12,000 USD?');
  const { payer_wallet } = (await receiptIn(out)) as { payer_wallet: `0x${string}` };
  // The registration and the call.
  expect(await service.transfersFrom({ address: payer_wallet })).toHaveLength(2);
});

it('follow-book keeps every event of its book, each over the hash of the one before', async () => {
  const BOOK_FILE = join(await ownFolder(), 'book.jsonl');
  const { out, ...end } = await runExample('follow-book', { BOOK_FILE });
  expect(end).toEqual(done);
  const kept = (await readFile(BOOK_FILE, 'utf8'))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line).event as { position: number; kind: string; prev_hash: string; hash: string });
  expect(kept.map(({ position }) => position)).toEqual(kept.map((_, at) => at + 1));
  expect(kept.map(({ prev_hash }) => prev_hash)).toEqual(['', ...kept.slice(0, -1).map(({ hash }) => hash)]);
  expect(kept.filter(({ kind }) => kind === 'born')).toHaveLength(3);
  expect(out).toContain(`event ${kept.length}: `);
  await sessionOf(out);
  expect(await modeOf(BOOK_FILE)).toBe('600');
});

it('npm run example -- follow-book needs the session alone once its wallet is registered, and buys nothing then', async () => {
  const first = await runExample('follow-book');
  const { agent_id: AGENT_ID, session: SESSION } = await sessionOf(first.out);
  const events = (text: string) => text.split('\n').filter(line => line.startsWith('event '));
  const again = startNode(RUNNER, ['follow-book'], {
    SERVICE_URL: service.url,
    DATA_DIR: await ownFolder(),
    TMPDIR: await ownFolder(),
    AGENT_ID,
    SESSION,
  });
  await expect.poll(() => again.lines, { timeout: 10_000 }).toEqual(events(first.out));
  expect([await again.interrupt(), again.lines.at(-1)]).toEqual([0, expect.stringMatching(/^kept in /)]);
  expect(events(again.lines.join('\n'))).toEqual(events(first.out));
});

it.each(['webhook-receiver', 'dashboard-apollo'])(
  'npm run example -- %s with a session names the key that is missing, and makes no other wallet',
  async name => {
    const given = {
      SERVICE_URL: service.url,
      DATA_DIR: await ownFolder(),
      AGENT_ID: '1',
      SESSION: 'of-another-wallet',
    };
    expect(await runNode(RUNNER, [name], given)).toEqual({
      code: 1,
      out: '',
      err: 'PRIVATE_KEY is not set: set it to the private key of the wallet whose book SESSION opens, or unset SESSION for a new wallet.\n',
    });
  },
);

it('npm run example pays no other program at the address of the last development service, and asks nothing more of it', async () => {
  const requests: string[] = [];
  const other = createServer(({ url = '' }, response) => {
    requests.push(url);
    response.end('{"status":"up"}');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  atEnd(() => void other.close());
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const DATA_DIR = await developmentFolder({ ...service, url });
  expect(await runNode(RUNNER, ['buy-chat'], { DATA_DIR })).toEqual({
    code: 1,
    out: '',
    err: `Another program answers at ${url}, and gets no payment: stop it and start the service with \`npm start\`, or set SERVICE_URL.\n`,
  });
  expect(requests).toEqual(['/livez']);
});

it('npm run example -- buy-chat takes no session, and gets a new wallet beside one', async () => {
  const { code, err } = await runNode(RUNNER, ['buy-chat'], {
    DATA_DIR: await developmentFolder(service),
    SESSION: 'of-another-wallet',
  });
  expect([code, err]).toEqual([0, expect.stringMatching(/^PRIVATE_KEY is not set: 0x\w{40} is used/)]);
});

it('webhook-receiver takes what is signed with its secret, and removes the webhook', async () => {
  const { out, ...end } = await runExample('webhook-receiver', { PORT: String(await ownPort()) });
  expect(end).toEqual(done);
  const task_id = printed(out, 'bought ');
  expect(out).toContain(`message 1: settle ${task_id}, 0.002 USDC`);
  expect(out).toContain(`message 2: collected ${task_id}, 0.002 USDC`);
  const { agent_id, session } = await sessionOf(out);
  const set = await service.get(`/v1/agents/${agent_id}/book/webhook`, { 'X-SVC-Session': session });
  expect(set).toMatchObject({ status: 200, body: { webhook: null } });
});

it('webhook-receiver tells a bad signature from its own fault, takes a ping, and reads no body without end', async () => {
  const PORT = String(await ownPort());
  const receiver = `http://127.0.0.1:${PORT}/`;
  let secret = '';
  const post = async (message: object | string, signed = true) => {
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    const [id, at] = ['msg_1', new Date()];
    const signature = signed ? new Webhook(secret).sign(id, at, body) : 'v1,AAAA';
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    return (await fetch(receiver, { method: 'POST', headers, body })).status;
  };
  const statuses: number[] = [];
  const ping = { id: 'msg_ping', kind: 'ping', number: null, task_id: null, row: null };
  const test = (amount: string) => ({
    id: 'msg_test',
    kind: 'test',
    number: 9,
    task_id: 't',
    row: { payment: { amount } },
  });
  const SERVICE_URL = await openAlteringProxy(service, async ({ method, path, answer: { status, text } }) => {
    if (method === 'PUT') secret = (JSON.parse(text) as { secret_once: string }).secret_once;
    // The program waits for this response meanwhile.
    if (path === '/v1/chat/completions' && status === 402)
      for (const [message, signed] of [
        [ping, true],
        [ping, false],
        ['x'.repeat(262_145), true],
        [test('no amount'), true],
        [test('1000000'), true],
        [test('1000000'), true],
      ] as const)
        statuses.push(await post(message, signed));
    return text;
  });
  const { code, out, err } = await runExample('webhook-receiver', { PORT, SERVICE_URL });
  expect([code, statuses]).toEqual([0, [204, 401, 413, 500, 204, 204]]);
  expect(out).toContain('message without a row: ping');
  expect(out.match(/^message 9: test t, 1 USDC$/gm)).toHaveLength(1);
  expect(err).toContain('SyntaxError');
});

it('webhook-receiver says what to do where the service does not deliver to its URL', async () => {
  const { code, err } = await runExample('webhook-receiver', { WEBHOOK_URL: 'ftp://127.0.0.1/' });
  expect(code).toBe(1);
  expect(err).toMatch(
    /book\/webhook: 400 .*\nSet WEBHOOK_URL to a public https URL, or start the service by NODE_ENV=test/,
  );
});

it('dashboard-apollo serves a page that loads nothing from elsewhere; what it shows follows the book', async () => {
  const PORT = String(await ownPort());
  const { lines, press } = await startExample('dashboard-apollo', { PORT });
  await expect.poll(() => lines.length).toBe(3);
  await sessionOf(lines.join('\n'));
  const [, page = '', key = ''] = /^open (\S+)#(\S+)$/.exec(lines[1] ?? '') ?? [];
  const [shown, script] = await Promise.all([fetch(page), fetch(`${page}page.js`)]);
  expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await shown.text()).toContain('<table id="rows">');
  const code = await script.text();
  expect(code).toContain('DashboardEvents');

  // The page clears its address before it asks for the session, which it gets once.
  const steps: unknown[] = [];
  const document = { getElementById: () => ({ innerHTML: '' }) };
  const history = { replaceState: (...to: unknown[]) => steps.push(to) };
  const asking = async (...request: unknown[]) => steps.push(request) && new Response('', { status: 404 });
  new Function('document', 'location', 'history', 'fetch', code)(document, { hash: `#${key}` }, history, asking);
  const request = { method: 'POST', headers: { authorization: `Bearer ${key}` } };
  expect(steps).toEqual([
    [null, '', '/'],
    ['/book', request],
  ]);
  const take = (headers: Record<string, string> = {}) => fetch(`${page}book`, { ...request, headers });
  expect([(await fetch(`${page}book`)).status, (await take()).status]).toEqual([404, 404]);
  const given = (await (await take(request.headers)).json()) as { service: string; agent_id: number; session: string };
  expect((await take(request.headers)).status).toBe(404);

  const books: Parameters<Parameters<typeof watchDashboardBook>[0]['show']>[0][] = [];
  const faults: unknown[] = [];
  const leave = watchDashboardBook({
    ...given,
    show: one => void books.push(one),
    fail: fault => void faults.push(fault),
  });
  atEnd(async () => leave());
  await expect.poll(() => books.at(-1)).toMatchObject({ spent: '2000', totalsBy: [{ key: 'register', count: 1 }] });
  press();
  await expect.poll(() => books.at(-1)).toMatchObject({ spent: '4000', rows: { edges: [{ node: { seq: 2 } }, {}] } });
  expect(books.at(-1)?.totalsBy).toContainEqual(
    expect.objectContaining({ key: expect.stringMatching(/^(alpha|beta)-/), count: 1, amount: '2000' }),
  );
  // The row may arrive before the program that has bought it has its response.
  await expect.poll(() => lines.at(-1)).toBe(`bought ${books.at(-1)?.rows.edges[0]?.node.taskId}`);
  expect(faults).toEqual([]);
});

it('hire-an-agent pays the worker and the fee, and is shown the output of that hash', async () => {
  const worker = await service.chain.newWallet();
  const { out, ...end } = await runExample('hire-an-agent', { WORKER_KEY: worker.private_key });
  expect(end).toEqual(done);
  expect(out).toContain('paid 0.04 USDC and a fee of 0.0024 USDC: http');
  expect(out).toContain('revealed: A signed statement of who paid which call, how much, and to whom.');
  expect(out).toContain('the job is closed');
  expect((await service.chain.transfers(worker.address)).map(({ amount_atomic }) => amount_atomic)).toContain(40_000n);
});

it.each<[string, object, Record<string, string>]>([
  ['the service names another payee of the fee', { pay_to: '0x00000000000000000000000000000000000000fE' }, {}],
  ['the service names another amount of the fee', { amount: '1000000' }, {}],
  ['FEE_PAYEE is another address', {}, { FEE_PAYEE: '0x00000000000000000000000000000000000000fE' }],
])('hire-an-agent pays nothing if %s', async (_, lie, more) => {
  const worker = await service.chain.newWallet();
  const SERVICE_URL = await openAlteringProxy(service, ({ path, answer: { text } }) => {
    if (!/^\/v1\/board\/jobs\/[^/?]+$/.test(path)) return text;
    const job = JSON.parse(text) as { legs: { leg: string }[] | null };
    return JSON.stringify({ ...job, legs: job.legs?.map(leg => (leg.leg === 'winner' ? leg : { ...leg, ...lie })) });
  });
  const { code, err } = await runExample('hire-an-agent', { WORKER_KEY: worker.private_key, SERVICE_URL, ...more });
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/The fee has to be 0.0024 USDC to 0x\w{40}. Nothing was paid./),
  ]);
  expect(await service.chain.transfers(worker.address)).not.toContainEqual(
    expect.objectContaining({ amount_atomic: 40_000n }),
  );
});

it('mcp-agent pays for a tool, and reads the receipt by another', async () => {
  const { out, ...end } = await runExample('mcp-agent');
  expect(end).toEqual(done);
  expect(out).toMatch(/^\d+ tools, such as \w+/);
  expect(out).toContain('chat_completions costs 0.002 USDC');
  expect(await receiptIn(out)).toMatchObject({ amount: '2000' });
});

it('mcp-agent sends the same payment again after its connection was cut, and keeps the payment if that does not help', async () => {
  const { private_key, address } = await service.chain.newWallet();
  let cuts_left = 1;
  const shown = new Set<string>();
  const SERVICE_URL = await openAlteringProxy(service, ({ text, answer }) => {
    const payment = (JSON.parse(text || '{}') as { params?: { _meta?: JsonObject } }).params?._meta?.['x402/payment'];
    if (payment) shown.add(JSON.stringify(payment));
    return payment && cuts_left-- > 0 ? null : answer.text;
  });
  const run = (more = {}) => runExample('mcp-agent', { SERVICE_URL, PRIVATE_KEY: private_key, ...more });
  const cut = await run();
  expect([cut.code, cut.err]).toEqual([0, expect.stringContaining('the same payment is sent again')]);
  expect(await receiptIn(cut.out)).toMatchObject({ amount: '2000' });
  expect([shown.size, await service.transfersFrom({ address })]).toMatchObject([1, [{}]]);

  cuts_left = 3;
  const lost = await run();
  const [, PAYMENT_FILE = ''] = /PAYMENT_FILE=(\S+): the same payment/.exec(lost.err) ?? [];
  expect([lost.code, await modeOf(PAYMENT_FILE)]).toEqual([1, '600']);
  cuts_left = 0;
  expect(await receiptIn((await run({ PAYMENT_FILE })).out)).toMatchObject({ amount: '2000' });
  expect([shown.size, await service.transfersFrom({ address })]).toMatchObject([2, [{}, {}]]);
}, 60_000);

it('reconcile-month writes a journal that balances and agrees with the book', async () => {
  const JOURNAL_FILE = join(await ownFolder(), 'month.ledger');
  const { out, ...end } = await runExample('reconcile-month', { JOURNAL_FILE });
  expect(end).toEqual(done);
  expect(out).toContain('expenses:inference: 0.004 USDC');
  expect(out).toContain('the journal balances');
  expect(out).toContain('the book has 0.006 USDC: agrees');
  await sessionOf(out);
  expect(await modeOf(JOURNAL_FILE)).toBe('600');
  const transactions = transactionsOf(await readFile(JOURNAL_FILE, 'utf8'));
  expect(transactions).toHaveLength(3);
  for (const { postings } of transactions) expect(postings.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
});
