import { beforeAll, describe, expect, it } from 'vitest';
import { keccak256 } from '../../schema/digest.ts';
import { handMadePayment, registrationOf } from '../harness/buyer.ts';
import { REGISTER, type RegistrationAnswer, type Service, sharedService } from '../harness/doors/open-service.ts';
import { withoutReferences } from '../harness/openapi.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

interface Described {
  readonly paths: Readonly<
    Record<string, { readonly post?: { readonly responses: Record<number, { headers?: object }> } }>
  >;
}

/** A wallet with money, the signed body of its registration and a payment for it. Neither was sent yet. */
async function applicant() {
  const account = await service.chain.newWallet();
  return { account, body: await registrationOf(account), payment: await service.payment(account, REGISTER) };
}

describe('POST /v1/agents/register, what it answers', () => {
  it('200 and 402 bring the headers that OpenAPI lists for them, and OpenAPI lists no other', async () => {
    const { paths } = withoutReferences((await service.get<Described>('/openapi.json')).body);
    const listed = (status: number) =>
      Object.keys(paths[REGISTER]?.post?.responses[status]?.headers ?? {}).map(name => name.toLowerCase());
    const ours = (headers: Headers) => [...headers.keys()].filter(name => /^(x-svc|x-payment|payment)-/.test(name));
    const stamps = [await applicant(), await applicant()] as const;
    const [by_v2, by_v1] = stamps;
    const v2 = await service.post(REGISTER, by_v2.body, by_v2.payment);
    const offer = await service.offer(REGISTER);
    const v1 = await service.post(REGISTER, by_v1.body, await handMadePayment(by_v1.account, offer));
    expect([v2.status, v1.status]).toEqual([200, 200]);
    expect([...new Set([...ours(v2.headers), ...ours(v1.headers)])].sort()).toEqual(listed(200).sort());
    const unpaid = await service.post(REGISTER, {});
    expect(ours(unpaid.headers)).toEqual(['payment-required']);
    expect(listed(402)).toContain('payment-required');
  });

  const recordedHash = async (agent_id: number) => {
    const query = `{ agent(agentId: ${agent_id}) { requestHash } }`;
    const { body } = await service.post<{ data: { agent: { requestHash: string } } }>('/graphql', { query });
    return body.data.agent.requestHash;
  };

  it('200 with any request_hash of 32 bytes: kept with the agent', async () => {
    const { body, payment } = await applicant();
    const request_hash = `0x${'AB'.repeat(32)}`;
    const heard = await service.post<RegistrationAnswer>(REGISTER, { ...body, request_hash }, payment);
    expect(heard.status).toBe(200);
    expect(heard.body.request_hash).toBe(request_hash.toLowerCase());
    expect(await recordedHash(heard.body.agent_id)).toBe(request_hash.toLowerCase());
  });

  it('200 without a request_hash: that of the signed text is derived', async () => {
    const { account, body, payment } = await applicant();
    const text = `svc.register.pay|${account.address}|${body.signature_timestamp}`;
    const heard = await service.post<RegistrationAnswer>(REGISTER, body, payment);
    const derived = `0x${Buffer.from(keccak256(Buffer.from(text))).toString('hex')}`;
    expect(await recordedHash(heard.body.agent_id)).toBe(derived);
  });
});
