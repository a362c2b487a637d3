import { ANSWER, plain, THOUGHT } from './openai-rows.ts';
import { type Rows, withoutShown } from './rows.ts';

const FAILED = 'AI_RetryError 502 hub_failed ×2';
const BROKE_OFF = 'AI_StreamProviderError hub_broke_off';
const GREETING = '"Hello! How can I assist you today?"';

/** Outcome of each habit in the AI SDK with @ai-sdk/openai-compatible, which shows reasoning. The SDK retries 429 and 5xx. */
export const compatibleRows: Rows = {
  'dev/context-too-long': 'AI_APICallError 400 context_length_exceeded',
  'dev/refuses-max-tokens': ['AI_APICallError 400 unsupported_parameter', plain('dev/refuses-max-tokens')],
  'dev/context-too-long-flat': ['AI_APICallError 400', 'AI_APICallError 400 hub_rejected_request'],
  'dev/flagged': ['AI_APICallError 403', 'AI_APICallError 403 hub_rejected_content'],
  'dev/content-filtered': 'AI_APICallError 400 content_filter',
  'dev/rate-limited': [
    'AI_RetryError 429 rate_limit_exceeded ×2 wait 7',
    'AI_RetryError 429 hub_rate_limited ×2 wait 7',
  ],
  'dev/out-of-credit': ['AI_RetryError 429 insufficient_quota ×2', FAILED],
  'dev/key-refused': ['AI_APICallError 400', FAILED],
  'dev/no-balance': ['AI_APICallError 400', FAILED],
  'dev/overloaded': ['AI_RetryError 503 ×2 wait 20', 'AI_RetryError 503 hub_overloaded ×2 wait 20'],
  'dev/thinking': `${ANSWER} ${THOUGHT} stop`,
  'dev/thinking-details': `${ANSWER} ${THOUGHT} stop`,
  'dev/thinks-to-the-limit': '"" [Compare 9.80 with] length',
  'dev/empty-finish-reason': { whole: [`${ANSWER} other`, `${ANSWER} stop`], streamed: `${ANSWER} stop` },
  'dev/only-role': { whole: ['"" stop', FAILED], streamed: ['AI_InvalidResponseDataError', FAILED] },
  'dev/partial-usage': `${ANSWER} stop`,
  'dev/sparse': { whole: [`${ANSWER} other`, `${ANSWER} stop`], streamed: `${ANSWER} stop` },
  'dev/answers-other': plain('dev/answers-other'),
  'dev/thinks-and-stops': {
    whole: ['"" [Compare 9.80 with] stop', FAILED],
    streamed: ['"" [Compare 9.80 with] stop', BROKE_OFF],
  },
  'dev/no-finish-reason': {
    whole: [`${ANSWER} other`, `${ANSWER} stop`],
    streamed: [`AI_InvalidResponseDataError after ${ANSWER}`, `${BROKE_OFF} after ${ANSWER}`],
  },
  'dev/fails-within': {
    whole: ['"9.8 is" other', FAILED],
    streamed: ['AI_StreamProviderError server_error after "9.8 is"', `${BROKE_OFF} after "9.8 is"`],
  },
  'dev/cuts-off': {
    whole: plain('dev/cuts-off'),
    streamed: ['AI_APICallError 200 after "One two "', `${BROKE_OFF} after "One two "`],
  },
  'dev/ends-with-error-event': {
    whole: plain('dev/ends-with-error-event'),
    streamed: ['AI_StreamProviderError server_error after "One two "', `${BROKE_OFF} after "One two "`],
  },
  'dev/ends-with-bare-error': {
    whole: plain('dev/ends-with-bare-error'),
    streamed: ['AI_StreamProviderError server_error after "One two "', `${BROKE_OFF} after "One two "`],
  },
  'dev/runs-out-of-resources': {
    whole: ['"One two " other', FAILED],
    streamed: ['"One two " other', `${BROKE_OFF} after "One two "`],
  },
  'dev/odd-finish-reason': ['"One two " other', '"One two " stop'],
  'dev/anthropic-finish-reason': {
    whole: [`${GREETING} other`, `${GREETING} stop`],
    streamed: ['"One two " other', '"One two " stop'],
  },
};

const rows = withoutShown('thoughts', compatibleRows);

/**
 * Outcomes with @ai-sdk/openai. It shows less of the answer of a hub that leaves members out than of the service's answer, which has them.
 */
export const chatRows: Rows = {
  ...rows,
  'dev/only-role': { whole: ['"" stop', FAILED], streamed: ['"" interrupted', FAILED] },
  'dev/partial-usage': { whole: `${ANSWER} stop`, streamed: ['AI_TypeValidationError', `${ANSWER} stop`] },
  'dev/sparse': {
    whole: ['AI_APICallError 200', `${ANSWER} stop`],
    streamed: ['AI_TypeValidationError', `${ANSWER} stop`],
  },
  // This client ignores reasoning. To it an error after reasoning comes before any content, so it retries.
  'dev/thinks-and-stops': { whole: ['"" stop', FAILED], streamed: ['"" stop', 'AI_RetryError 500 hub_broke_off ×2'] },
  'dev/no-finish-reason': {
    whole: [`${ANSWER} other`, `${ANSWER} stop`],
    streamed: [`${ANSWER} interrupted`, `${BROKE_OFF} after ${ANSWER}`],
  },
  'dev/fails-within': {
    whole: ['"9.8 is" other', FAILED],
    streamed: ['"9.8 is" other', `${BROKE_OFF} after "9.8 is"`],
  },
  'dev/ends-with-error-event': {
    whole: plain('dev/ends-with-error-event'),
    streamed: ['"One two " other', `${BROKE_OFF} after "One two "`],
  },
};

/** Outcomes with the Responses API of @ai-sdk/openai. Only those through the service are used, because no hub offers that API. */
export const responsesRows: Rows = {
  ...rows,
  'dev/thinks-and-stops': { whole: FAILED, streamed: BROKE_OFF },
};
