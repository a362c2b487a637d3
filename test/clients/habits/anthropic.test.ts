import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, describe } from 'vitest';
import { ANSWER, plain, THOUGHT } from '../../harness/habits/openai-rows.ts';
import type { ApiAddress, HabitOutcome } from '../../harness/habits/outcome.ts';
import { type Client, type Rows, testEachHabit } from '../../harness/habits/rows.ts';
import { messages, openStandIn, type StandIn } from '../../harness/habits/stand-in.ts';

/* The client of Anthropic as it is installed from npm: it meets the habits of hubs through POST /v1/messages only. */

let standIn: StandIn;
beforeAll(async () => {
  standIn = await openStandIn();
});

/** The client appends its own path, with `/v1`, to the address. */
const clientAt = ({ baseURL, fetch: by }: ApiAddress) =>
  new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), apiKey: 'none', maxRetries: 1, fetch: by });
const requestFor = (model: string) => ({
  model,
  messages,
  max_tokens: 2_048,
  thinking: { type: 'enabled', budget_tokens: 1_024 } as const,
});

function outcomeIn({ content, stop_reason }: Anthropic.Message): HabitOutcome {
  const text = content.map(block => (block.type === 'text' ? block.text : '')).join('');
  const reasoning = content.map(block => (block.type === 'thinking' ? block.thinking : '')).join('');
  return { text, reasoning, finish: stop_reason };
}

const anthropic: Client = {
  whole: async (reached, model) => outcomeIn(await clientAt(reached).messages.create(requestFor(model))),
  async streamed(reached, model, shown) {
    const stream = clientAt(reached).messages.stream(requestFor(model));
    stream.on('text', piece => shown.push(piece));
    return outcomeIn(await stream.finalMessage());
  },
};

const REJECTED = 'BadRequestError 400 invalid_request_error';
const FAILED = 'InternalServerError 502 api_error ×2';
const BROKE_OFF = 'APIError api_error';
const expectedLine = (model: string) => plain(model).replace(/stop$/, 'end_turn');

/** The client names an error by its type; the code of a hub is in the body. */
const rows: Rows = {
  'dev/context-too-long': REJECTED,
  'dev/refuses-max-tokens': expectedLine('dev/refuses-max-tokens'),
  'dev/context-too-long-flat': REJECTED,
  'dev/flagged': 'PermissionDeniedError 403 permission_error',
  'dev/content-filtered': REJECTED,
  'dev/rate-limited': 'RateLimitError 429 rate_limit_error ×2 wait 7',
  'dev/out-of-credit': FAILED,
  'dev/key-refused': FAILED,
  'dev/no-balance': FAILED,
  'dev/overloaded': 'ServiceUnavailableError 503 overloaded_error ×2 wait 20',
  'dev/thinking': `${ANSWER} ${THOUGHT} end_turn`,
  'dev/thinking-details': `${ANSWER} ${THOUGHT} end_turn`,
  'dev/thinks-to-the-limit': '"" [Compare 9.80 with] max_tokens',
  'dev/empty-finish-reason': `${ANSWER} end_turn`,
  'dev/only-role': FAILED,
  'dev/partial-usage': `${ANSWER} end_turn`,
  'dev/sparse': `${ANSWER} end_turn`,
  'dev/answers-other': expectedLine('dev/answers-other'),
  'dev/thinks-and-stops': { whole: FAILED, streamed: BROKE_OFF },
  'dev/no-finish-reason': { whole: `${ANSWER} end_turn`, streamed: `${BROKE_OFF} after ${ANSWER}` },
  'dev/fails-within': { whole: FAILED, streamed: `${BROKE_OFF} after "9.8 is"` },
  'dev/cuts-off': { whole: expectedLine('dev/cuts-off'), streamed: `${BROKE_OFF} after "One two "` },
  'dev/ends-with-error-event': {
    whole: expectedLine('dev/ends-with-error-event'),
    streamed: `${BROKE_OFF} after "One two "`,
  },
  'dev/ends-with-bare-error': {
    whole: expectedLine('dev/ends-with-bare-error'),
    streamed: `${BROKE_OFF} after "One two "`,
  },
  'dev/runs-out-of-resources': { whole: FAILED, streamed: `${BROKE_OFF} after "One two "` },
  'dev/odd-finish-reason': '"One two " end_turn',
  'dev/anthropic-finish-reason': {
    whole: '"Hello! How can I assist you today?" end_turn',
    streamed: '"One two " end_turn',
  },
};

describe('@anthropic-ai/sdk', () => testEachHabit(() => standIn, anthropic, rows, { straight: false }));
