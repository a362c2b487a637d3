import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HubHabit, refusals } from '../../../../gateway/development/hub/habits.ts';
import { limits } from '../../../../schema/limits.ts';
import { type HubVerdict, secretsOf, verdictOf } from '../../../../subgraphs/receipt/inference/hubs/verdict.ts';

const KEY = 'sk-hub-4f1b7c9d02aa';
const secrets = secretsOf('https://models.example:8443/tenant-51aa/v1', KEY);
const rules = {
  by_router: false,
  added: ['model', 'n', 'stream', 'stream_options'],
  secrets,
  now_ms: Date.parse('2026-01-01T00:00:00Z'),
};

function verdictOn({ status, headers = {}, body }: Omit<HubHabit, 'source'>, by_router = false): HubVerdict | null {
  return verdictOf({ status, headers, body: Buffer.from(body) }, { ...rules, by_router });
}
const verdictFor = (status: number, error: object, by_router = false, headers = {}) =>
  verdictOn({ status, headers, body: JSON.stringify({ error }) }, by_router);

const judged: Readonly<Record<keyof typeof refusals, object | null>> = {
  'dev/context-too-long': {
    kind: 'request',
    status: 400,
    error: {
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'messages',
      message: expect.stringContaining('4097 tokens'),
    },
  },
  'dev/refuses-max-tokens': {
    kind: 'request',
    status: 400,
    error: { code: 'unsupported_parameter', param: 'max_tokens' },
  },
  'dev/context-too-long-flat': {
    kind: 'request',
    status: 400,
    error: { code: null, type: null, param: null, message: expect.stringContaining('32768 tokens') },
  },
  'dev/flagged': { kind: 'request', status: 403, error: { message: 'The input was flagged' } },
  'dev/content-filtered': { kind: 'request', status: 400, error: { code: 'content_filter', param: 'prompt' } },
  'dev/rate-limited': { kind: 'crowded', status: 429, retry_after_seconds: 7 },
  'dev/out-of-credit': null,
  'dev/key-refused': null,
  'dev/no-balance': null,
  'dev/overloaded': { kind: 'crowded', status: 503, retry_after_seconds: 20 },
};

describe('the verdict of a hub', () => {
  it.each(Object.entries(refusals))('%s', (name, habit) => {
    const verdict = verdictOn(habit);
    expect({ verdict }).toMatchObject({ verdict: judged[name as keyof typeof refusals] });
  });

  it.each([401, 402, 403, 404, 405, 408, 409, 500, 502, 504, 529, 302, 204])(
    '%i is the operator’s affair, whatever it says',
    status => {
      expect(verdictFor(status, { message: 'no', code: 'no', type: 'no' })).toBeNull();
    },
  );

  it.each([
    ['our account', { code: 'insufficient_quota' }],
    ['our account', { type: 'billing_hard_limit_reached' }],
    ['our key', { code: 'invalid_api_key' }],
    ['the name of a model, which is the hub’s own', { param: 'model', code: 'invalid_value' }],
    ['a member that we add', { param: 'stream_options.include_usage', code: 'unknown_parameter' }],
    ['another member that we add', { param: 'n', code: 'unknown_parameter' }],
    [
      'where we call from',
      { message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' },
    ],
    [
      'our account in words',
      { message: 'Your organization must be verified to stream this model.', param: 'messages' },
    ],
    ['a member that we add, in words', { message: 'extra fields not permitted: stream_options' }],
  ])('400 that names %s is the operator’s affair', (_, error) => {
    expect(verdictFor(400, error)).toBeNull();
  });

  it.each([
    ['quotes what the caller has written', { message: 'Invalid regex: stream_options(' }],
    ['has a code of its own', { message: 'unknown parameter stream_options', code: 'context_length_exceeded' }],
  ])('400 that names a member of ours and %s is the caller’s', (_, error) => {
    expect(verdictFor(400, error)).toMatchObject({ kind: 'request' });
  });

  it('a member that was not added to this request is the caller’s', () => {
    const body = Buffer.from(JSON.stringify({ error: { param: 'n', message: 'n must be 1' } }));
    const verdict = verdictOf({ status: 400, headers: {}, body }, { ...rules, added: ['model'] });
    expect(verdict).toMatchObject({ kind: 'request', error: { param: 'n' } });
  });

  it.each([
    [401, { kind: 'key', hub_status: 401 }],
    [402, { kind: 'key', hub_status: 402 }],
    [403, { kind: 'key', hub_status: 403 }],
    [429, { kind: 'crowded', status: 429 }],
    [400, { kind: 'request', status: 400 }],
  ])('%i of the router, under its caller’s own key, is the caller’s', (status, verdict) => {
    expect(verdictFor(status, { message: 'no' }, true)).toMatchObject(verdict);
  });

  it('a model that the router does not know is no fault of the key', () => {
    expect(verdictFor(404, { code: 'model_not_found' }, true)).toBeNull();
  });

  it('a model that a hub does not know by the name that we gave is the operator’s affair', () => {
    expect(verdictFor(400, { code: 'model_not_found' })).toBeNull();
  });

  it('out of credit at the router is the caller’s account, and no reason to ask again', () => {
    expect(verdictFor(429, { code: 'insufficient_quota' }, true)).toMatchObject({ kind: 'key', hub_status: 429 });
  });

  it.each([
    ['JSON', '{"error":'],
    ['a page', '<html>Bad Request</html>'],
    ['nothing', ''],
    ['a number', '400'],
    ['a list of nothing', '[]'],
  ])('400 with %s is still the caller’s, without a word of the hub', (_, body) => {
    const nothing = { code: null, type: null, param: null, message: null };
    expect(verdictOn({ status: 400, body })).toEqual({ kind: 'request', status: 400, error: nothing });
  });

  it('400 whose body broke off or was too long is the caller’s, too', () => {
    expect(verdictOf({ status: 413, headers: {}, body: null }, rules)).toMatchObject({ kind: 'request', status: 413 });
  });

  it.each([
    ['Ollama’s text', '{"error":"prompt too long"}', 'prompt too long'],
    [
      'Google’s list',
      '[{"error":{"code":400,"message":"too many tokens","status":"INVALID_ARGUMENT"}}]',
      'too many tokens',
    ],
    ['FastAPI’s detail', '{"detail":"body is too large"}', 'body is too large'],
    [
      'Anthropic’s envelope',
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}',
      'prompt is too long',
    ],
  ])('reads %s', (_, body, message) => {
    expect(verdictOn({ status: 400, body })).toMatchObject({ error: { message } });
  });
});

describe('what is passed on of a hub’s words', () => {
  const messageOf = (message: string, by_router = false) => {
    const verdict = verdictFor(400, { message }, by_router);
    return verdict?.kind === 'request' ? verdict.error.message : undefined;
  };

  it.each([
    ['a key', `The word ${KEY} is not allowed.`],
    ['a host', 'upstream models.example:8443 refused'],
    ['a host without its port, in capitals', 'upstream MODELS.EXAMPLE refused'],
    ['a path that is a secret', 'POST /tenant-51aa/v1/chat/completions: bad request'],
    ['an organisation', 'Rate limit reached in organization org-AbCdEf0123456789'],
    ['a project', 'project proj_AbCdEf0123456789 may not'],
    ['a key in base64', `Basic ${Buffer.from(KEY).toString('base64')}`],
    ['a masked key', 'Incorrect key sk-or-v1-0123...cdef'],
    ['stars for a key', 'Incorrect key xa***9f'],
    ['a host with a sign that is not drawn', 'upstream models.\u00adexample refused'],
    ['an address of another network', 'worker 10.2.3.4 refused'],
    ['a host with its port', 'vllm-prod-7.cluster.example:8000 refused'],
    ['an organisation in capitals', 'ORG-ABCDEF0123 may not'],
    ['any key that looks like one', `used sk-proj-${'a1B2'.repeat(12)}`],
  ])('nothing of a message with %s', (_, message) => {
    expect(messageOf(message)).toBeNull();
  });

  it.each([
    ['a key', KEY],
    ['a host', 'models.example'],
    ['an organisation', 'org-abcdef0123456789'],
    ['any key that looks like one', `sk-or-v1-${'0a'.repeat(32)}`],
  ])('%s is no code, type or param', (_, word) => {
    expect(verdictFor(400, { code: word, type: word, param: word })).toMatchObject({
      error: { code: null, type: null, param: null },
    });
  });

  it('no secret, whatever stands around it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...secrets), fc.string(), fc.string(), (secret, before, after) => {
        expect(messageOf(before + secret + after) ?? '').not.toContain(secret);
      }),
    );
  });

  it('plain text of a bounded length, or nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), message => {
        const text = messageOf(message) ?? '';
        expect([...text].length).toBeLessThanOrEqual(limits.hub_message_chars_max);
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it('of code, type and param only what programs act on', () => {
    fc.assert(
      fc.property(fc.string(), word => {
        const verdict = verdictFor(400, { code: word, type: word, param: word });
        if (verdict?.kind !== 'request') return;
        for (const passed of [verdict.error.code, verdict.error.type, verdict.error.param])
          expect(passed === null || (passed === word && /^[a-z0-9_.[\]-]{1,100}$/.test(word))).toBe(true);
      }),
    );
  });
});

describe('when a hub may be asked again', () => {
  it.each([
    ['7', 7],
    ['1.5', 2],
    ['0', 1],
    ['999999', 3_600],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 1],
    ['soon', null],
    ['', null],
    ['-5', null],
  ])('Retry-After: %s is %s seconds', (header, seconds) => {
    expect(verdictFor(429, {}, false, { 'retry-after': header })).toEqual({
      kind: 'crowded',
      status: 429,
      retry_after_seconds: seconds,
    });
  });

  it('retry-after-ms goes first, as OpenAI’s clients read it', () => {
    expect(verdictFor(429, {}, false, { 'retry-after': '20', 'retry-after-ms': '1500' })).toMatchObject({
      retry_after_seconds: 2,
    });
  });

  it('without a word, when is not known', () => {
    expect(verdictFor(503, {})).toEqual({ kind: 'crowded', status: 503, retry_after_seconds: null });
  });
});
