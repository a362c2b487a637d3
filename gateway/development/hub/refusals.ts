/*
 * How model hubs refuse, byte for byte as they write it. A model of a development hub is named for each, so that anyone can see
 * what a caller is told of it; tests put the same bytes to the rules.
 */

export interface HubHabit {
  /** Where the provider says that it answers so, or who reported it. */
  readonly source: string;
  /** It refuses a request that has this member, and answers any other. */
  readonly refuses?: 'max_tokens';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export const refusals = {
  'dev/context-too-long': {
    source: 'OpenAI, as reported in github.com/himanushi/chat-code/issues/17',
    status: 400,
    body: '{"error":{"message":"This model\'s maximum context length is 4097 tokens. However, your messages resulted in 4363 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}',
  },
  'dev/refuses-max-tokens': {
    source:
      'OpenAI, as reported in github.com/anomalyco/opencode/issues/37964 and github.com/fish2018/YPrompt/issues/26',
    refuses: 'max_tokens',
    status: 400,
    body: '{"error":{"message":"Unsupported parameter: \'max_tokens\' is not supported with this model. Use \'max_completion_tokens\' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}',
  },
  'dev/context-too-long-flat': {
    source: 'vLLM, as reported in github.com/HKUSTDial/Alpha-SQL/issues/5',
    status: 400,
    body: '{"object":"error","message":"This model\'s maximum context length is 32768 tokens. However, you requested 41648 tokens (37552 in the messages, 4096 in the completion). Please reduce the length of the messages or completion. None","type":"BadRequestError","param":null,"code":400}',
  },
  'dev/flagged': {
    source: 'OpenRouter, openrouter.ai/docs/api/reference/errors-and-debugging (Moderation Errors)',
    status: 403,
    body: '{"error":{"code":403,"message":"The input was flagged","metadata":{"reasons":["violence"],"flagged_input":"…","provider_name":"openai","model_slug":"openai/gpt-4o"}}}',
  },
  'dev/content-filtered': {
    source: 'Azure OpenAI, learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter',
    status: 400,
    body: '{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400}}',
  },
  'dev/rate-limited': {
    source: 'OpenAI, platform.openai.com/docs/guides/error-codes and /docs/guides/rate-limits',
    status: 429,
    headers: { 'retry-after': '7' },
    body: '{"error":{"message":"Rate limit reached for gpt-4o in organization org-AbCdEf0123456789 on tokens per min (TPM): Limit 30000, Used 29000, Requested 1500.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}',
  },
  'dev/out-of-credit': {
    source: 'OpenAI, platform.openai.com/docs/guides/error-codes ("You exceeded your current quota")',
    status: 429,
    body: '{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}',
  },
  'dev/key-refused': {
    source:
      'Google, as reported in github.com/brunnurs/valuenet/issues/12 and github.com/google-gemini/gemini-cli/issues/25198',
    status: 400,
    body: '[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}]',
  },
  'dev/no-balance': {
    source: 'Anthropic, as reported in github.com/anthropics/claude-code/issues/66314',
    status: 400,
    body: '{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}',
  },
  'dev/overloaded': {
    source: 'OpenAI, platform.openai.com/docs/guides/error-codes (503, "The engine is currently overloaded")',
    status: 503,
    headers: { 'retry-after': '20' },
    body: '{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error","param":null,"code":null}}',
  },
} as const satisfies Record<string, HubHabit>;
