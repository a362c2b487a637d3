import { randomBytes, randomUUID } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { limits } from '../../schema/limits.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { nowSeconds, registrationOf } from '../harness/buyer.ts';
import { encodeBase64, makePayment, paymentHeaders } from '../harness/doors/make-payment.ts';
import { ask, CHAT, openService, REGISTER, type Service } from '../harness/doors/open-service.ts';

const hex = () => randomBytes(32).toString('hex');
/** Secrets in the service's configuration. */
const configured = {
  SEAL_KEY: hex(),
  SUBGRAPH_SECRET: hex(),
  ANCHOR_KEY: hex(),
  ISSUER_KEYS: hex(),
  METRICS_TOKEN: hex(),
};
const keys = { API_KEYS: `live-${hex()}`, DEMO_KEYS: `demo-${hex()}`, BOARD_OPS_SECRET: `ops-${hex()}` };

/** Every secret that a test has sent. No line of the log may contain it. */
const said = new Set<string>();
const say = <T extends string>(secret: T): T => {
  said.add(secret);
  return secret;
};

/**
 * Points at which claimed calls fail, in their order: of three paid calls and a registration, of two calls for each API key, and of another
 * registration.
 */
const breaks = {
  paid: ['after_claim', 'after_work', 'before_record', ''],
  by_key: ['after_claim', 'after_work', '', ''],
};

let service: Service;
beforeAll(async () => {
  service = await openService(
    { ...configured, ...keys, LOG_LEVEL: 'trace', BREAKS_AT: [...breaks.paid, ...breaks.by_key, 'after_claim'].join() },
    // Errors that the tests cause on purpose while the service handles a secret.
    {
      entry: 'test/harness/doors/gateway-that-breaks.ts',
      meant: /the drawer is stuck|kept_away|book_away|relation .+book.+ does not exist/,
    },
  );
  for (const secret of Object.values({ ...configured, ...keys })) say(secret);
  for (const key of service.chain.facilitator_keys) say(key.slice(2));
  for (const hub of service.hubs) say(hub.config.api_key);
});

const logs = () => service.gateway.logs.join('\n');

/** Headers of a payment, after each of its secret parts was added to `said`. */
async function paying() {
  const payer = await service.chain.newWallet();
  say(payer.private_key.slice(2));
  const { headers, message, signature } = await makePayment(service, payer);
  say(headers['PAYMENT-SIGNATURE'] ?? '');
  for (const part of [signature.slice(2, 66), signature.slice(66, 130)]) say(part);
  return { payer, headers, message, signature };
}

async function prompt() {
  return ask(say(`The prompt ${hex()}`));
}

describe('no line of the log, at the level that says most, holds', () => {
  it('a payment, its signature or the prompt of a call that is answered, refused or broken', async () => {
    // The first three claimed calls fail at different points, the third after its money has moved.
    for (const status of [500, 500, 503]) {
      const { headers } = await paying();
      expect((await service.post(CHAT, await prompt(), headers)).status).toBe(status);
    }
    const { headers, signature } = await paying();
    const broken = JSON.stringify(await prompt()).slice(0, -1);
    expect((await service.post(CHAT, broken, headers)).status).toBe(400);
    expect(
      (await service.post(CHAT, {}, paymentHeaders(2, say(encodeBase64(`{"signature":"${signature}"}`))))).status,
    ).toBe(400);
    const { message } = await paying();
    const wrong = await makePayment(service, await service.chain.newWallet(), { signed: message });
    expect((await service.post(CHAT, await prompt(), { 'X-PAYMENT': say(`no base64 ${hex()}`) })).status).toBe(400);
    expect((await service.post(CHAT, await prompt(), wrong.headers)).status).toBe(402);
  });

  it('what came with a request that Node or Fastify refused before any door', async () => {
    const { headers } = await paying();
    const session = say(`svcs_${hex()}`);
    const large = 'A'.repeat(limits.request_headers_bytes_max);
    const refused = await fetch(service.url + CHAT, { method: 'POST', headers: { ...headers, session, large } });
    expect(refused.status).toBe(431);
    expect((await service.get(`/receipt/%zz?session=${session}`, { 'X-SVC-Session': session })).status).toBe(400);
  });

  it('the row or the parameters of a statement that Postgres refused', async () => {
    const { headers, payer } = await paying();
    await service.query(
      `alter table payment_claim add constraint kept_away check (payer <> '${payer.address}') not valid`,
    );
    const request = await prompt();
    expect((await service.post(CHAT, request, headers)).status).toBe(500);
    await service.query('alter table payment_claim drop constraint kept_away');
    await expect.poll(() => logs()).toContain('kept_away');
    expect(logs()).not.toContain('Failing row');
  });

  it('a session or a proof, good or wrong, where the door or the database breaks', async () => {
    const agent = await service.newAgent();
    say(agent.session);
    const proof = say(bookProof(agent.session, agent.agent_id, proofWindow(Date.now())));
    const wrong = say(`svcs_${hex()}`);
    const path = `/v1/agents/${agent.agent_id}/book`;
    const shown: Record<string, string>[] = [
      { 'X-SVC-Session': agent.session },
      { 'X-SVC-Proof': proof },
      { 'X-SVC-Session': wrong },
      { 'X-SVC-Session': agent.session, 'X-SVC-Proof': proof },
    ];
    const statuses = async () => Promise.all(shown.map(async headers => (await service.get(path, headers)).status));
    expect(await statuses()).toEqual([200, 200, 403, 200]);
    await service.query('alter table book rename to book_away');
    expect((await statuses()).filter(status => status === 200)).toEqual([]);
    await service.post(path, { session: agent.session, budget: '1' });
    await service.query('alter table book_away rename to book');
    expect(await statuses()).toEqual([200, 200, 403, 200]);
  });

  it('a key, whichever way it is shown', async () => {
    const statuses: number[] = [];
    for (const key of [keys.API_KEYS, keys.DEMO_KEYS, say(`unknown-${hex()}`)]) {
      const ways: Record<string, string>[] = [
        { authorization: `Bearer ${key}` },
        { authorization: `Basic ${key}` },
        { 'X-API-Key': key },
      ];
      for (const shown of ways) statuses.push((await service.post(CHAT, await prompt(), shown)).status);
    }
    expect(statuses).toEqual([500, 402, 500, 200, 402, 200, 402, 402, 402]);
  });

  it('the control proof of a registration, and the session that it gives', async () => {
    const { payer, headers } = await paying();
    const body = await registrationOf(payer, { at: nowSeconds() });
    say(body.wallet_signature.slice(2));
    // Only the first attempt fails.
    expect((await service.post(REGISTER, body, headers)).status).toBe(500);
    const registered = await service.post<{ session: string }>(REGISTER, body, headers);
    expect(registered.status).toBe(200);
    say(registered.body.session);
  });

  it('what is shown on /graphql, to a socket, in a query or as the id of a request', async () => {
    const { session } = await service.newAgent();
    say(session);
    const input = { messages: [{ role: 'user', content: say(`The prompt ${hex()}`) }] };
    const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { id } }';
    const { headers } = await paying();
    const sent = { ...headers, 'X-SVC-Session': session, 'x-request-id': session };
    expect((await service.post('/graphql', { query, variables: { input } }, sent)).status).toBe(200);
    expect((await service.post('/graphql', `{"query": "${session}`, sent)).status).toBe(400);
    const token = say(`token-${hex()}`);
    const scraper = { authorization: `Bearer ${configured.METRICS_TOKEN}` };
    for (const path of ['/v1/models', `/receipt/${token}`, `/${token}`, '/graphql', '/metrics', '/livez'])
      await (await fetch(`${service.url}${path}?token=${token}&session=${session}`, { headers: scraper })).text();
    for (const shown of [session, say(`svcs_${hex()}`)]) {
      const socket = createClient({
        url: `${service.url.replace('http', 'ws')}/graphql?session=${shown}`,
        webSocketImpl: WebSocket,
        connectionParams: { session: shown },
        retryAttempts: 0,
      });
      await socket
        .iterate({ query: '{ models { id } }' })
        .next()
        .catch(() => {});
      await socket.dispose();
    }
  });

  it('anything of it, at the end', async () => {
    // Lines about successful requests are written with a delay, so the test waits for the line of a later request.
    const last = randomUUID();
    await service.get('/v1/models', { 'x-request-id': last });
    await expect.poll(logs).toContain(last);
    expect(said.size).toBeGreaterThan(30);
    const lines = logs();
    expect(lines).toContain('the drawer is stuck');
    for (const secret of said) expect(lines).not.toContain(secret);
  });
});
