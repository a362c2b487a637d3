import { decodePaymentRequiredHeader, decodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentPayload, PaymentRequired, PaymentRequirementsV1 } from '@x402/core/types';
import {
  extractDiscoveryInfo,
  extractDiscoveryInfoV1,
  isValidRouteTemplate,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Door } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { limits } from '../../schema/limits.ts';
import { openJobs } from '../harness/board/jobs.ts';
import { type Fetch, payingFetch } from '../harness/buyer.ts';
import { ask, CHAT } from '../harness/doors/open-service.ts';
import { listenToWire } from '../harness/doors/wire.ts';

type Extension = Parameters<typeof validateDiscoveryExtension>[0];

const paid = everyDoor.filter(({ price }) => price !== null);

let jobs: Awaited<ReturnType<typeof openJobs>>;
let wire: ReturnType<typeof listenToWire>;
/** Values for the parameters of a path. */
const named: Record<string, string> = { commentId: 'comment_of_nobody_00000000000' };
beforeAll(async () => {
  jobs = await openJobs();
  wire = listenToWire(jobs.service.url);
  // Of the endpoints that check the request before they answer 402, this one needs a delivered job.
  named.id = (await jobs.brought('delivered')).job_id;
  named.agent_id = String(jobs.poster.agent_id);
});

/** The 402 of an endpoint, for a page of another origin that sends the required credentials. */
async function challengeOf({ path }: Door) {
  const called = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named[name] ?? '');
  wire.take();
  const headers = { ...jobs.by(jobs.poster), origin: 'https://dashboard.example', 'content-type': 'application/json' };
  const answer = await fetch(jobs.service.url + called, { method: 'POST', headers, body: '{}' });
  const header = answer.headers.get('PAYMENT-REQUIRED') ?? '';
  const body = (await answer.json()) as { accepts: PaymentRequirementsV1[] };
  const [head] = wire.take();
  return {
    status: answer.status,
    header,
    required: decodePaymentRequiredHeader(header) as PaymentRequired,
    body,
    head,
  };
}

const extensionIn = ({ extensions }: Pick<PaymentRequired, 'extensions'>) => extensions?.bazaar as Extension;

function requireValid(extension: Extension): void {
  expect(validateDiscoveryExtensionSpec(extension as never)).toEqual({ valid: true });
  expect(validateDiscoveryExtension(extension)).toEqual({ valid: true });
}

describe.each(paid.map(door => [door.name, door] as const))('the 402 of %s', (_, door) => {
  it('says by x402’s bazaar extension how it is called, in headers that a stock proxy takes', async () => {
    const { status, header, required, head } = await challengeOf(door);
    expect(status).toBe(402);
    expect(head?.bytes).toBeLessThan(limits.challenge_headers_bytes_max);
    expect((head?.bytes ?? 0) - header.length - 'PAYMENT-REQUIRED'.length).toBeLessThanOrEqual(
      limits.challenge_beside_bytes_max,
    );
    const extension = extensionIn(required);
    requireValid(extension);
    const payment = { x402Version: 2, resource: required.resource, extensions: required.extensions };
    const found = extractDiscoveryInfo(payment as PaymentPayload, required.accepts[0] as never);
    expect(found).toMatchObject({ method: 'POST', discoveryInfo: extension.info });
    // A facilitator lists the template once for all ids in the path. For the longest path it gets only the URL.
    const template = door.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const listed = door.name === 'flag_board_comment' ? required.resource.url : jobs.service.url + template;
    expect(found?.resourceUrl).toBe(listed);
    expect(isValidRouteTemplate(template)).toBe(true);
  });

  it('says the same by the outputSchema of v1', async () => {
    const { body } = await challengeOf(door);
    for (const offer of body.accepts)
      expect(extractDiscoveryInfoV1(offer)).toMatchObject({
        input: { type: 'http', method: 'POST', bodyType: door.takes === 'application/json' ? 'json' : 'form-data' },
        output: { example: expect.any(Object) },
      });
  });

  it('has an example that its own schema takes', () => {
    expect(door.example).not.toBeNull();
    if (door.takes === 'application/json') expect(door.requests.body.safeParse(door.example).error).toBeUndefined();
  });
});

it('/.well-known/x402 has the extension of each paid door, with both schemas whole', async () => {
  const { body } = await jobs.service.get<{
    resources: { name: string; input: object; output: object; extensions: { bazaar: Extension } }[];
  }>('/.well-known/x402');
  expect(body.resources.map(({ name }) => name)).toEqual(paid.map(({ name }) => name));
  for (const { input, output, extensions } of body.resources) {
    requireValid(extensions.bazaar);
    expect(extensions.bazaar.schema.properties.input.properties).toMatchObject({ body: input });
    expect(extensions.bazaar.schema.properties.output?.properties).toMatchObject({ example: output });
  }
});

it('a 402 with the extension is paid by the official client at its first try, which sends the extension back', async () => {
  const payer = await jobs.service.chain.newWallet();
  const sent: Request[] = [];
  const seen: Fetch = (input, init) => {
    const request = new Request(input, init);
    sent.push(request.clone());
    return fetch(request);
  };
  const bought = await jobs.service.knock('POST', CHAT, { body: ask(), by: payingFetch(payer, 2, seen) });
  expect(bought.status).toBe(200);
  expect(sent).toHaveLength(2);
  const header = sent[1]?.headers.get('PAYMENT-SIGNATURE') ?? '';
  requireValid(extensionIn(decodePaymentSignatureHeader(header)));
  // A longer header would not be cached, and would be parsed each time.
  expect(header.length).toBeLessThan(limits.payment_header_remembered_bytes_max);
  expect(await jobs.service.transfersFrom(payer)).toHaveLength(1);
});
