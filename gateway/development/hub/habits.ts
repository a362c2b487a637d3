import type { ServerResponse } from 'node:http';
import { type HubChat, namedModels } from './answer.ts';

/*
 * Behaviors of real hubs, byte for byte: unusual members, ends and refusals in responses. The development hubs have a model for
 * each, whole and streamed, so that developers can see the result that a caller receives. Tests use the same bytes.
 */

export interface AnswerHabit {
  /** Documentation or report in which this is described. */
  readonly source: string;
  readonly whole: string;
  /** Lines of the streamed body. Each is an event or a comment. */
  readonly stream: readonly string[];
}

export const answerHabits = {
  'dev/thinking': {
    source:
      'DeepSeek, api-docs.deepseek.com/guides/thinking_mode; the first chunk as reported in github.com/Oaklight/llm-rosetta/issues/356; usage: api-docs.deepseek.com/api/create-chat-completion',
    whole:
      '{"id":"930c60df-bf64-41c9-a88e-3ec75f81e00e","object":"chat.completion","created":1705651092,"model":"deepseek-reasoner","choices":[{"index":0,"message":{"role":"assistant","content":"9.8 is greater.","reasoning_content":"Compare 9.80 with 9.11."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":16,"completion_tokens":12,"total_tokens":28,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":7},"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":12},"system_fingerprint":"fp_ea1d"}',
    stream: [
      'data: {"id":"930c60df","object":"chat.completion.chunk","created":1705651092,"model":"deepseek-reasoner","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}]}',
      'data: {"id":"930c60df","object":"chat.completion.chunk","created":1705651092,"model":"deepseek-reasoner","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Compare 9.80"},"logprobs":null,"finish_reason":null}]}',
      'data: {"id":"930c60df","object":"chat.completion.chunk","created":1705651092,"model":"deepseek-reasoner","choices":[{"index":0,"delta":{"content":null,"reasoning_content":" with 9.11."},"logprobs":null,"finish_reason":null}]}',
      'data: {"id":"930c60df","object":"chat.completion.chunk","created":1705651092,"model":"deepseek-reasoner","choices":[{"index":0,"delta":{"content":"9.8 is","reasoning_content":null},"logprobs":null,"finish_reason":null}]}',
      'data: {"id":"930c60df","object":"chat.completion.chunk","created":1705651092,"model":"deepseek-reasoner","choices":[{"index":0,"delta":{"content":" greater.","reasoning_content":null},"logprobs":null,"finish_reason":null}]}',
      'data: {"id":"930c60df","object":"chat.completion.chunk","created":1705651092,"model":"deepseek-reasoner","choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":16,"completion_tokens":12,"total_tokens":28,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":7},"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":12}}',
      'data: [DONE]',
    ],
  },
  'dev/thinking-details': {
    source:
      'OpenRouter, openrouter.ai/docs/guides/best-practices/reasoning-tokens (reasoning_details array structure) and openrouter.ai/docs/api/reference/streaming (comments, usage); how the entries are cut as reported in github.com/langchain-ai/langchain/issues/36400',
    whole:
      '{"id":"gen-1758885012-2qVPBxGHZxOgYWKthK4E","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion","created":1758885012,"choices":[{"logprobs":null,"finish_reason":"stop","native_finish_reason":"end_turn","index":0,"message":{"role":"assistant","content":"9.8 is greater.","refusal":null,"reasoning":"Compare 9.80 with 9.11.","reasoning_details":[{"type":"reasoning.text","text":"Compare 9.80 with 9.11.","signature":"EpkBCkYIBxgCKkA=","id":null,"format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"eyJlbmNyeXB0ZWQiOnRydWV9","id":"rs_1","format":"anthropic-claude-v1","index":1}]}}],"usage":{"prompt_tokens":16,"completion_tokens":12,"total_tokens":28,"cost":0.000228,"is_byok":false,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"cost_details":{"upstream_inference_cost":null,"upstream_inference_prompt_cost":0.000048},"completion_tokens_details":{"reasoning_tokens":7,"image_tokens":0}}}',
    stream: [
      ': OPENROUTER PROCESSING',
      'data: {"id":"gen-1758885012","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1758885012,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Compare 9.80","reasoning_details":[{"type":"reasoning.text","text":"Compare 9.80","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}',
      'data: {"id":"gen-1758885012","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1758885012,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":" with 9.11.","reasoning_details":[{"type":"reasoning.text","text":" with 9.11.","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}',
      'data: {"id":"gen-1758885012","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1758885012,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.text","signature":"EpkBCkYIBxgCKkA=","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"eyJlbmNyeXB0ZWQiOnRydWV9","id":"rs_1","format":"anthropic-claude-v1","index":1}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}',
      'data: {"id":"gen-1758885012","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1758885012,"choices":[{"index":0,"delta":{"role":"assistant","content":"9.8 is greater."},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}',
      'data: {"id":"gen-1758885012","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1758885012,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop","native_finish_reason":"end_turn","logprobs":null}]}',
      'data: {"id":"gen-1758885012","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1758885012,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null,"native_finish_reason":null,"logprobs":null}],"usage":{"prompt_tokens":16,"completion_tokens":12,"total_tokens":28,"cost":0.000228,"is_byok":false,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"cost_details":{"upstream_inference_cost":null,"upstream_inference_prompt_cost":0.000048},"completion_tokens_details":{"reasoning_tokens":7,"image_tokens":0}}}',
      'data: [DONE]',
    ],
  },
  'dev/thinks-to-the-limit': {
    source:
      'vLLM, as reported in github.com/vllm-project/vllm/issues/52640 (finish_reason length, content null, reasoning)',
    whole:
      '{"id":"chatcmpl-ad5a64ee1d92606f","object":"chat.completion","created":1775549781,"model":"deepseek-v4","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[],"reasoning":"Compare 9.80 with"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}],"service_tier":null,"system_fingerprint":null,"usage":{"prompt_tokens":16,"total_tokens":20,"completion_tokens":4,"prompt_tokens_details":null},"prompt_logprobs":null,"kv_transfer_params":null}',
    stream: [
      'data: {"id":"chatcmpl-ad5a64ee1d92606f","object":"chat.completion.chunk","created":1775549781,"model":"deepseek-v4","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}',
      'data: {"id":"chatcmpl-ad5a64ee1d92606f","object":"chat.completion.chunk","created":1775549781,"model":"deepseek-v4","choices":[{"index":0,"delta":{"reasoning":"Compare 9.80"},"logprobs":null,"finish_reason":null,"token_ids":null}]}',
      'data: {"id":"chatcmpl-ad5a64ee1d92606f","object":"chat.completion.chunk","created":1775549781,"model":"deepseek-v4","choices":[{"index":0,"delta":{"reasoning":" with"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}]}',
      'data: {"id":"chatcmpl-ad5a64ee1d92606f","object":"chat.completion.chunk","created":1775549781,"model":"deepseek-v4","choices":[],"usage":{"prompt_tokens":16,"total_tokens":20,"completion_tokens":4}}',
      'data: [DONE]',
    ],
  },
  'dev/thinks-and-stops': {
    source: 'vLLM, as reported in github.com/vllm-project/vllm-ascend/issues/9131 (finish_reason stop, content null)',
    whole:
      '{"id":"chatcmpl-9131","object":"chat.completion","created":1775549781,"model":"deepseek-v4","choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning_content":"Compare 9.80 with","tool_calls":[]},"logprobs":null,"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":16,"total_tokens":20,"completion_tokens":4}}',
    stream: [
      'data: {"id":"chatcmpl-9131","object":"chat.completion.chunk","created":1775549781,"model":"deepseek-v4","choices":[{"index":0,"delta":{"role":"assistant","content":null},"logprobs":null,"finish_reason":null}]}',
      'data: {"id":"chatcmpl-9131","object":"chat.completion.chunk","created":1775549781,"model":"deepseek-v4","choices":[{"index":0,"delta":{"reasoning_content":"Compare 9.80 with"},"logprobs":null,"finish_reason":null}]}',
      'data: {"id":"chatcmpl-9131","object":"chat.completion.chunk","created":1775549781,"model":"deepseek-v4","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}',
      'data: [DONE]',
    ],
  },
  'dev/no-finish-reason': {
    source: 'OpenCode Zen, as reported in github.com/anomalyco/opencode/issues/43882; whole: a finish_reason of null',
    whole:
      '{"id":"chatcmpl-43882","object":"chat.completion","created":1787270400,"model":"muse-spark","choices":[{"index":0,"message":{"role":"assistant","content":"9.8 is greater."},"finish_reason":null}],"usage":{"prompt_tokens":16,"completion_tokens":5,"total_tokens":21}}',
    stream: [
      'data: {"id":"chatcmpl-43882","object":"chat.completion.chunk","created":1787270400,"model":"muse-spark","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}',
      'data: {"id":"chatcmpl-43882","object":"chat.completion.chunk","created":1787270400,"model":"muse-spark","choices":[{"index":0,"delta":{"content":"9.8 is"},"finish_reason":null}]}',
      'data: {"id":"chatcmpl-43882","object":"chat.completion.chunk","created":1787270400,"model":"muse-spark","choices":[{"index":0,"delta":{"content":" greater."},"finish_reason":null}]}',
      'data: [DONE]',
    ],
  },
  'dev/empty-finish-reason': {
    source: 'Ollama, as reported in github.com/ollama/ollama/issues/4357 (an empty finish_reason in every chunk)',
    whole:
      '{"id":"chatcmpl-693","object":"chat.completion","created":1715427619,"model":"mistral:latest","system_fingerprint":"fp_ollama","choices":[{"index":0,"message":{"role":"assistant","content":"9.8 is greater."},"finish_reason":""}],"usage":{"prompt_tokens":16,"completion_tokens":5,"total_tokens":21}}',
    stream: [
      'data: {"id":"chatcmpl-693","object":"chat.completion.chunk","created":1715427619,"model":"mistral:latest","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"9.8 is"},"finish_reason":""}]}',
      'data: {"id":"chatcmpl-693","object":"chat.completion.chunk","created":1715427619,"model":"mistral:latest","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":" greater."},"finish_reason":""}]}',
      'data: {"id":"chatcmpl-693","object":"chat.completion.chunk","created":1715427619,"model":"mistral:latest","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}',
      'data: [DONE]',
    ],
  },
  'dev/only-role': {
    source:
      'Reported in github.com/diegosouzapw/OmniRoute/pull/8732 (a stream of a bare role); the comments: openrouter.ai/docs/api/reference/streaming',
    whole:
      '{"id":"chatcmpl-8649","object":"chat.completion","created":1785110400,"model":"some/model","choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":16,"completion_tokens":0,"total_tokens":16}}',
    stream: [
      ': OPENROUTER PROCESSING',
      'data: {"id":"chatcmpl-8649","object":"chat.completion.chunk","created":1785110400,"model":"some/model","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}',
      ': OPENROUTER PROCESSING',
      'data: {"id":"chatcmpl-8649","object":"chat.completion.chunk","created":1785110400,"model":"some/model","choices":[{"index":0,"delta":{},"finish_reason":null}]}',
      'data: [DONE]',
    ],
  },
  'dev/partial-usage': {
    source:
      'Whole: Portkey, as reported in github.com/Portkey-AI/gateway/issues/858 (one of the counts alone); streamed: MiniMax, as reported in github.com/MiniMax-AI/MiniMax-M2.5/issues/2 (an empty role, no id, no counts)',
    whole:
      '{"id":"74196500-8b9b-475a-aab3-381cec604587","object":"chat.completion.chunk","created":1736352401,"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"9.8 is greater."}}],"model":"deepseek-chat","usage":{"completion_tokens":25}}',
    stream: [
      'data: {"choices":[{"index":0,"delta":{"role":"","reasoning_content":""}}],"created":1771279826,"object":"chat.completion.chunk","usage":{"total_tokens":0,"total_characters":0},"input_sensitive":false,"output_sensitive":false}',
      'data: {"choices":[{"index":0,"delta":{"role":"","content":"9.8 is greater."}}],"created":1771279826,"object":"chat.completion.chunk","usage":{"total_tokens":0,"total_characters":0}}',
      'data: {"choices":[{"index":0,"delta":{"role":"","content":""},"finish_reason":"stop"}],"created":1771279826,"object":"chat.completion.chunk","usage":{}}',
      'data: [DONE]',
    ],
  },
  'dev/sparse': {
    source:
      'Reported in github.com/songquanpeng/one-api/issues/1037 (no index, no role); no id and no created: github.com/envoyproxy/ai-gateway/pull/993',
    whole:
      '{"object":"chat.completion","choices":[{"message":{"content":"9.8 is greater."}}],"usage":{"prompt_tokens":16,"completion_tokens":5}}',
    stream: [
      'data: {"choices":[{"delta":{"content":"9.8 is"}}],"object":"chat.completion.chunk"}',
      'data: {"choices":[{"index":null,"delta":{"content":" greater."}}],"object":"chat.completion.chunk"}',
      'data: {"choices":[{"delta":{},"finish_reason":"stop"}],"object":"chat.completion.chunk"}',
      'data: {"choices":[],"usage":{"prompt_tokens":16,"completion_tokens":5}}',
      'data: [DONE]',
    ],
  },
  'dev/fails-within': {
    source:
      'OpenRouter, openrouter.ai/docs/api/reference/errors-and-debugging and /streaming (errors after 200: an error member, finish_reason "error")',
    whole:
      '{"id":"gen-abc123","object":"chat.completion","created":1758885012,"model":"openai/gpt-4o","provider":"openai","choices":[{"index":0,"message":{"role":"assistant","content":"9.8 is"},"finish_reason":"error","error":{"code":502,"message":"Provider disconnected unexpectedly"}}],"usage":{"prompt_tokens":16,"completion_tokens":3,"total_tokens":19}}',
    stream: [
      'data: {"id":"gen-abc123","object":"chat.completion.chunk","created":1758885012,"model":"openai/gpt-4o","provider":"openai","choices":[{"index":0,"delta":{"role":"assistant","content":"9.8 is"},"finish_reason":null}]}',
      'data: {"id":"gen-abc123","object":"chat.completion.chunk","created":1758885012,"model":"openai/gpt-4o","provider":"openai","error":{"code":"server_error","message":"Provider disconnected unexpectedly"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}',
      'data: [DONE]',
    ],
  },
} as const satisfies Record<string, AnswerHabit>;

/** The streamed body, in which an empty line ends each event. */
export function streamBody({ stream }: AnswerHabit): string {
  return stream.map(line => `${line}\n\n`).join('');
}

export interface EndHabit {
  /** Documentation or report in which this end is described. */
  readonly source: string;
  /** Body of a streamed response. */
  readonly stream: string;
  /** Whether the connection is cut after the body, without a proper end. */
  readonly cuts?: true;
  /** Whether a repeated request gets a proper response. */
  readonly once?: true;
  /** Body of a whole response. Default: that of a proper response. */
  readonly whole?: string;
}

const FIRST =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"One "},"finish_reason":null}]}\n\n' +
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"content":"two "},"finish_reason":null}]}\n\n';

const CUT = {
  source: 'A connection cut before any finish reason, as reported in github.com/anomalyco/opencode/issues/37852',
  stream: FIRST,
  cuts: true,
} as const;

export const endHabits = {
  'dev/cuts-off': CUT,
  'dev/cuts-off-once': { ...CUT, once: true },
  'dev/ends-with-error-event': {
    source: 'OpenRouter, openrouter.ai/docs/api-reference/streaming (Handling Errors During Streaming)',
    stream: `${FIRST}data: {"id":"cmpl-abc123","object":"chat.completion.chunk","created":1234567890,"model":"gpt-3.5-turbo","provider":"openai","error":{"code":"server_error","message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\n`,
  },
  'dev/ends-with-bare-error': {
    source: 'OpenAI, as recorded in github.com/coder/aibridge (fixtures/openai/chatcompletions/stream_error.txtar)',
    stream: `${FIRST}data: {"error": {"message": "The server had an error while processing your request. Sorry about that!", "type": "server_error"}}\n\n`,
  },
  'dev/runs-out-of-resources': {
    source: 'DeepSeek, api-docs.deepseek.com/api/create-chat-completion (finish_reason insufficient_system_resource)',
    stream: `${FIRST}data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"insufficient_system_resource"}]}\n\ndata: [DONE]\n\n`,
    whole:
      '{"id":"chatcmpl-1","object":"chat.completion","created":1733356800,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"One two "},"finish_reason":"insufficient_system_resource"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
  },
  'dev/odd-finish-reason': {
    source: 'Together, as reported in github.com/openai/openai-dotnet/pull/267',
    stream: `${FIRST}data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"eos"}]}\n\ndata: [DONE]\n\n`,
    whole:
      '{"id":"chatcmpl-1","object":"chat.completion","created":1733356800,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"One two "},"finish_reason":"eos"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
  },
  'dev/anthropic-finish-reason': {
    source: 'Anthropic by OpenRouter, as reported in github.com/vercel/modelfusion/pull/343',
    stream: `${FIRST}data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"end_turn"}]}\n\ndata: [DONE]\n\n`,
    whole:
      '{"id":"gen-xxx","model":"anthropic/claude-3-opus","object":"chat.completion","created":1716730125,"choices":[{"index":0,"message":{"role":"assistant","content":"Hello! How can I assist you today?"},"finish_reason":"end_turn"}],"usage":{"prompt_tokens":10,"completion_tokens":12,"total_tokens":22}}',
  },
} as const satisfies Record<string, EndHabit>;

export interface HubHabit {
  /** Documentation or report in which this is described. */
  readonly source: string;
  /** Member because of which the hub refuses a request. Requests without it are answered. Default: the hub refuses all. */
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

/**
 * Models of the development hubs that show how hubs refuse requests, how their responses look and end, and which model they name.
 */
export const habitModels = [refusals, answerHabits, endHabits, namedModels].flatMap(models =>
  Object.keys(models),
) as HabitModel[];
export type HabitModel =
  | keyof typeof refusals
  | keyof typeof answerHabits
  | keyof typeof endHabits
  | keyof typeof namedModels;

/** Maximum number of remembered requests. Beyond it all are forgotten, so that each counts as new. */
const SEEN_MAX = 1_000;

/**
 * Responds to a chat like the hub that its model imitates, byte for byte. False if the model has no unusual behavior for this
 * request. `seen` contains requests of models that respond unusually only once.
 */
export function answerByHabit(request: HubChat, response: ServerResponse, seen: Set<string>): boolean {
  const { model, stream } = request;
  const habit: HubHabit | undefined = refusals[model as keyof typeof refusals];
  if (habit && (habit.refuses === undefined || request[habit.refuses] !== undefined)) {
    const headers = { 'content-type': 'application/json', ...habit.headers };
    response.writeHead(habit.status, headers).end(habit.body);
    return true;
  }
  if (endOddly(request, response, seen)) return true;
  const said: AnswerHabit | undefined = answerHabits[model as keyof typeof answerHabits];
  if (!said) return false;
  const headers = { 'content-type': stream ? 'text/event-stream' : 'application/json', 'cache-control': 'no-store' };
  response.writeHead(200, headers).end(stream ? streamBody(said) : said.whole);
  return true;
}

/** Sends a response with an unusual end, if the model has one for this request. Returns whether it did. */
function endOddly(request: HubChat, response: ServerResponse, seen: Set<string>): boolean {
  const habit: EndHabit | undefined = endHabits[request.model as keyof typeof endHabits];
  if (habit === undefined) return false;
  const { stream, cuts, once, whole } = habit;
  if (!request.stream) {
    if (whole === undefined) return false;
    response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
    return true;
  }
  const name = JSON.stringify(request);
  if (once && seen.has(name)) return false;
  if (once) seen.add(name);
  if (seen.size > SEEN_MAX) seen.clear();
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  // The socket is destroyed after the write, because destroying it drops data that is not written yet.
  if (cuts) response.write(stream, () => response.destroy());
  else response.end(stream);
  return true;
}
