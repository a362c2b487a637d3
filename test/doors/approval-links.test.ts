import { beforeAll, describe, expect, it } from 'vitest';
import { WebhookEnvelope } from '../../rest-compat/book/webhook-envelope.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { approvalLimits } from '../../schema/limits.ts';
import { approvalToken } from '../../subgraphs/book/approval/link.ts';
import { openVault } from '../../subgraphs/vault.ts';
import { type ApprovalAnswer, approvalDoorsOf } from '../harness/doors/approvals.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { dumpOf } from '../harness/dump.ts';
import { openReceiver } from '../harness/webhook/receiver.ts';

const SEAL_KEY = 'a key that seals and marks, of a test alone';
let service: Service;
beforeAll(async () => {
  service = await openService({ NODE_ENV: 'test', DEMO_KEYS: 'a-demo-key', SEAL_KEY, LOG_LEVEL: 'trace' });
});

const { newest, cautious, callToApprove, decide, answer, walletAnswer } = approvalDoorsOf(() => service);
const { putForApprovals, read } = webhookDoorsOf(() => service);
const closed = { status: 404, body: { code: 'not_found' } };

/** A book with an approval policy and a webhook for approvals, with the link for one of its calls. */
async function linked(content: string, beside = {}) {
  const [agent, receiver] = [await cautious(), await openReceiver()];
  expect((await putForApprovals(agent, `${receiver.url}/in`)).status).toBe(200);
  const call = await callToApprove(agent, content, beside);
  const [message] = await receiver.untilMessages(1);
  const [id, token] = new URL(String(message?.body.approval_link)).hash.slice(1).split('.');
  const at = `/v1/approvals/${id}`;
  const headers = { 'X-SVC-Approval': String(token) };
  return {
    agent,
    receiver,
    call,
    message: message as NonNullable<typeof message>,
    id,
    token: String(token),
    at,
    look: (shown = headers) => service.get<ApprovalAnswer & JsonObject>(at, shown),
    say: (decision: string, shown: Record<string, string> = headers) =>
      service.post<ApprovalAnswer & JsonObject>(at, { decision }, shown),
  };
}

const boxesOf = ({ agent_id }: { readonly agent_id: number }) =>
  service.query('select text_box from approval_request where agent_id = $1', [agent_id]);

describe('the webhook kind `approval`', () => {
  it('is opt-in, in no usual kinds; tells of request and answer, and has a link of the request alone', async () => {
    const { agent, receiver, call, message, id, token } = await linked('Told');
    const { request } = call;
    expect(WebhookEnvelope.parse(message.body)).toEqual(message.body);
    expect(message.body).toMatchObject({
      kind: 'approval',
      approval_link: `${service.url}/approve#${request.approval_id}.${token}`,
      event: { kind: 'approval', body: { status: 'open', approval_id: id, request_hash: request.request_hash } },
      row: { task_id: request.task_id, evidence: 'policy_blocked' },
    });
    await decide(agent, request);
    const [, told] = await receiver.untilMessages(2);
    expect(told?.body).toMatchObject({ event: { body: { status: 'approved', decided_by: 'wallet' } } });
    expect(told?.body).not.toHaveProperty('approval_link');
    const { body } = await read(agent);
    expect(body.supported_events).not.toContain('approval');
  });

  it('its token stands in no answer, event, row, job or log, delivered or not', async () => {
    const { agent, call, look, say, token } = await linked('Secret');
    // The job of this message stays, because its receiver refuses everything.
    const [waiting, receiver] = [await cautious(), await openReceiver(() => ({ status: 500 }))];
    await putForApprovals(waiting, `${receiver.url}/in`);
    const { request } = await callToApprove(waiting, 'Secret, too');
    await receiver.untilMessages(1);
    const answers = [call.heard, await look(), await say('approve')];
    const query = `subscription { bookRows(agentId: ${agent.agent_id}, after: 0) { kind body } }`;
    const live = openSocket(service, { session: agent.session });
    const told: string[] = [];
    for await (const event of live.each(query)) {
      told.push(JSON.stringify(event));
      if (told.filter(it => it.includes('"approval"')).length === 2) break;
    }
    const texts = [...answers.map(({ text }) => text), ...told, await dumpOf(service.database_url)];
    texts.push(service.gateway.logs.join('\n'));
    expect(texts.join()).toContain(call.request.approval_id);
    const other = approvalToken({ vault: openVault(SEAL_KEY) }, request.approval_id);
    expect(approvalToken({ vault: openVault(SEAL_KEY) }, call.request.approval_id)).toBe(token);
    for (const secret of [token, other])
      for (const written of [secret, Buffer.from(secret).toString('hex')])
        for (const text of texts) expect(text).not.toContain(written);
  });
});

describe('what is approved', () => {
  it('is shown as the service has it, to whoever has the link or the book, until it is answered', async () => {
    const { agent, call, look, say } = await linked('Transfer the deposit', { 'X-SVC-Note': 'routine work' });
    const text = {
      request_text: 'user: Transfer the deposit\n\n{"model":"svc/auto","stream":false}',
      note: 'routine work',
    };
    const shown = { ...text, request_text_characters: text.request_text.length, model: 'svc/auto', status: 'open' };
    expect((await look()).body).toMatchObject(shown);
    expect(await newest(agent)).toMatchObject(shown);
    const query = `{ approvals(agentId: ${agent.agent_id}) { approvals { requestText requestTextCharacters note } } }`;
    const graph = await service.post<JsonObject>('/graphql', { query }, { 'X-SVC-Session': agent.session });
    expect(graph.text).toContain('Transfer the deposit');

    const gone = { request_text: null, request_text_characters: null, note: null };
    expect((await say('approve')).body).toMatchObject({ ...gone, status: 'approved' });
    expect((await look()).body).toMatchObject(gone);
    expect(await boxesOf(agent)).toEqual([{ text_box: null }]);
    expect((await call.send()).status).toBe(200);
  });

  it('is what stands behind an image, too: of the image its kind', async () => {
    const agent = await cautious();
    const url = `data:image/png;base64,${'A'.repeat(4_000)}`;
    const parts: readonly JsonObject[] = [
      { type: 'image_url', image_url: { url } },
      { type: 'text', text: 'Transfer the deposit' },
    ];
    const messages = [{ role: 'user', content: parts }];
    const refused = await service.buy(agent.account, { ...ask(''), messages });
    expect(refused).toMatchObject({ status: 403, body: { code: 'approval_ttl_expired' } });
    const said = 'user: [image_url]\nTransfer the deposit\n\n{"model":"svc/auto","stream":false}';
    expect(await newest(agent)).toMatchObject({ request_text: said, request_text_characters: said.length });
  });

  it('is its first 2,000 characters, and how many there are; a note is never shown without it', async () => {
    const { agent } = await linked('x'.repeat(5_000), { 'X-SVC-Note': 'short' });
    const { request_text, request_text_characters } = await newest(agent);
    expect([request_text?.length, request_text_characters]).toEqual([
      2_000,
      5_000 + 'user: \n\n{"model":"svc/auto","stream":false}'.length,
    ]);
    await service.query(`update approval_request set text_box = $2 where agent_id = $1`, [
      agent.agent_id,
      Buffer.of(1, 2),
    ]);
    expect(await newest(agent)).toMatchObject({ request_text: null, note: null, status: 'open' });
  });

  it('stands in no event, webhook, log or answer to the caller, and in no table as it is', async () => {
    const [said, claimed] = ['needle-of-the-request', 'needle-of-the-note'];
    const { agent, call, message } = await linked(said, { 'X-SVC-Note': claimed });
    const query = `subscription { bookRows(agentId: ${agent.agent_id}, after: 0) { kind body } }`;
    const live = openSocket(service, { session: agent.session });
    const told: string[] = [];
    for await (const event of live.each(query)) {
      told.push(JSON.stringify(event));
      if (told.at(-1)?.includes('"approval"')) break;
    }
    const tables = await dumpOf(service.database_url);
    expect(tables).toContain(call.request.approval_id);
    const texts = [message.text, call.heard.text, ...told, tables, service.gateway.logs.join('\n')];
    for (const needle of [said, claimed])
      for (const written of [
        needle,
        ...(['hex', 'base64', 'base64url'] as const).map(as => Buffer.from(needle).toString(as)),
      ])
        for (const text of texts) expect(text).not.toContain(written);
  });

  it('is shown no more, and deleted, once its time is over', async () => {
    const agent = await cautious({ approval_ttl: 1 });
    await callToApprove(agent, 'Nobody answers');
    await expect.poll(() => newest(agent)).toMatchObject({ status: 'expired', decided_by: null, request_text: null });
    await expect.poll(() => boxesOf(agent)).toEqual([{ text_box: null }]);
  });

  it('400 for a note that is too long: the payment is unused', async () => {
    const agent = await cautious();
    const payment = await service.payment(agent.account, CHAT);
    const headers = { ...payment, 'X-SVC-Note': 'n'.repeat(approvalLimits.note_characters_max + 1) };
    const refused = await service.post(CHAT, ask('Noted'), headers);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', charged: false } });
    expect(await service.claimsOf(agent.account)).toHaveLength(1);
  });
});

describe('GET /v1/approvals/{approval_id}', () => {
  it('200 shows what it is for, and changes nothing, however often', async () => {
    const { agent, call, look } = await linked('Shown');
    for (let times = 0; times < 3; times++) expect(await look()).toMatchObject({ status: 200, body: call.request });
    expect(await newest(agent)).toEqual(call.request);
    expect((await service.buy(agent.account, ask('Shown'))).status).toBe(403);
  });

  it('400 without a token, and for one that is too long or holds NUL; 404 with another one or no request', async () => {
    const { at, look, token } = await linked('Guessed');
    expect((await service.get(at)).status).toBe(400);
    expect((await look({ 'X-SVC-Approval': 'x'.repeat(approvalLimits.token_chars_max + 1) })).status).toBe(400);
    const query = 'query ($id: String!, $token: String!) { linkedApproval(approvalId: $id, token: $token) { status } }';
    const variables = { id: at.split('/').at(-1), token: `${token}\u0000` };
    expect((await service.post('/graphql', { query, variables })).text).not.toContain('"open"');
    const flipped = `${token.slice(0, -1)}${token.endsWith('A') ? 'Q' : 'A'}`;
    expect(await look({ 'X-SVC-Approval': flipped })).toMatchObject(closed);
    const other = `/v1/approvals/approval_${'0'.repeat(26)}`;
    expect(await service.get(other, { 'X-SVC-Approval': token })).toMatchObject(closed);
    expect((await look()).status).toBe(200);
  });

  it('404 to however many guesses, and the right token answers all the same: a caller cannot close it', async () => {
    const { agent, call, look, say } = await linked('Guessed often');
    const before = await newest(agent);
    for (let guess = 0; guess < 25; guess++)
      expect(
        await (guess % 2 === 0 ? look : say.bind(null, 'approve'))({ 'X-SVC-Approval': `no-${guess}` }),
      ).toMatchObject(closed);
    expect(await newest(agent)).toEqual(before);
    expect((await look()).status).toBe(200);
    expect(await say('deny')).toMatchObject({ status: 200, body: { status: 'denied' } });
    expect((await call.send()).status).toBe(403);
  });
});

describe('POST /v1/approvals/{approval_id}', () => {
  it('200 approves: the same call passes once', async () => {
    const { call, say } = await linked('By link');
    expect(await say('approve')).toMatchObject({ status: 200, body: { status: 'approved', decided_by: 'link' } });
    expect((await call.send()).status).toBe(200);
  });

  it('200 denies; 409 approval_closed for another answer, by the link and by the wallet', async () => {
    const { agent, call, say } = await linked('Denied by link');
    expect(await say('deny')).toMatchObject({ status: 200, body: { status: 'denied' } });
    expect(await say('deny')).toMatchObject({ status: 200, body: { status: 'denied' } });
    expect(await say('approve')).toMatchObject({ status: 409, body: { code: 'approval_closed' } });
    const signed = await walletAnswer(agent.account, call.request);
    expect((await answer(agent, call.request.approval_id, signed)).status).toBe(409);
    expect((await call.send()).status).toBe(403);
  });

  it('400 for an answer that is none, 403 beside a demo key, 404 with another token, and of another request', async () => {
    const [one, other] = [await linked('One'), await linked('Other')];
    expect((await one.say('perhaps')).status).toBe(400);
    const headers = { 'X-SVC-Approval': one.token };
    expect((await one.say('approve', { ...headers, 'X-API-Key': 'a-demo-key' })).status).toBe(403);
    expect(await one.say('approve', { 'X-SVC-Approval': 'another' })).toMatchObject(closed);
    expect(await other.say('approve', headers)).toMatchObject(closed);
    expect((await newest(one.agent)).status).toBe('open');
  });
});
