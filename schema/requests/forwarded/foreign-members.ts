import type { Json } from '../../canonical-json.ts';
import { callerIdentifiers } from '../unsupported-members.ts';
import { FORWARDED, foldName, type GivenMember, type MemberRule, type OpenPlace } from './extra.ts';

/*
 * Members that other services define in addition to those of OpenAI. They are not passed on to a hub, because a caller could use them to
 * choose the provider, its region, or the account that pays, and this service decides these. Names are compared without case, `-` and `_`.
 */

const IN_HEADER = 'send it as a header, not in the body';

interface ForeignMembers {
  readonly why: string;
  readonly names: readonly string[];
  /** Values that request the default behavior, in addition to null, false and empty values. */
  readonly usual?: readonly Json[];
  /** True if the rule also applies to objects inside the body. */
  readonly within?: true;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Members of OpenRouter, LiteLLM, Portkey, vLLM, SGLang, Anthropic, Azure, Vercel, xAI, Qwen, Gemini and Bedrock; refused with 400 by name.
 */
export const foreignRefused: readonly ForeignMembers[] = [
  {
    why: '`model` and `svc` decide which model answers, and where',
    names: words(`
      models model_list model_group model_info base_model route router routing router_options provider providers
      provider_options gateway preset transforms fallback fallbacks fallback_model fallback_models
      default_fallbacks disable_fallbacks context_window_fallbacks context_window_fallback_dict
      content_policy_fallbacks custom_llm_provider llm_provider litellm_params override_params strategy targets
      engine deployment deployment_id deployment_name azure_deployment hf_model_name lora_path
    `),
  },
  {
    why: 'hubs are called with the key of this service',
    within: true,
    names: words(`
      api_key x_api_key api_keys api_token access_token auth auth_token authorization bearer credentials
      virtual_key portkey_api_key openai_api_key anthropic_api_key router_key x_router_key user_config
      organization organization_id project project_id azure_ad_token aws_access_key_id aws_secret_access_key
      aws_session_token aws_profile_name aws_role_name vertex_credentials vertex_project vertex_location
      authorization_token bearer_token auth_header connector_id workspace_id
    `),
  },
  {
    why: 'hubs are called at their own addresses',
    within: true,
    names: words(`
      base_url api_base api_url api_host endpoint host custom_host server_url azure_endpoint api_version api_type
      proxy proxies region region_name aws_region_name inference_geo webhook webhook_url callback callbacks
      callback_url success_callback failure_callback ssl_verify bootstrap_host bootstrap_port bootstrap_room
    `),
  },
  {
    why: 'hubs receive no headers of the caller',
    within: true,
    names: words('headers extra_headers custom_headers default_headers forward_headers'),
  },
  {
    why: 'nothing is stored, so send the content itself',
    within: true,
    names: words('file_id file_ids container container_id vector_store_id vector_store_ids'),
  },
  {
    why: 'hubs receive the members of the body only',
    names: words(`
      extra_body extra_query default_query extra_params betas anthropic_beta anthropic_version drop_params additional_drop_params allowed_openai_params
      additional_model_request_fields
    `),
  },
  {
    why: 'each call has the same price and the same speed',
    names: words('tier speed priority latency performance_config fast_mode billing_policy fallback_credit_token'),
    usual: ['auto', 'default', 'standard', 0],
  },
  {
    why: 'this service decides about retries and time limits',
    names: words(`
      num_retries max_retries retries retry retry_policy timeout request_timeout stream_timeout background
      deferred async async_mode batch
    `),
    usual: [0],
  },
  {
    why: 'calls are independent, and nothing of them is stored',
    names: words(`
      previous_response_id conversation conversation_id thread thread_id assistant_id parent_message_id
      context_management cached_content prompt_id prompt_variables prompt_template session_params
    `),
  },
  {
    why: 'tools are functions, and the caller runs them',
    names: words(`
      plugins mcp mcp_servers tool_servers server_tools hosted_tools builtin_tools tool_resources agents
      connectors data_sources enhancements search web_search enable_web_search enable_search search_options
      search_settings search_parameters file_search retrieval code_interpreter enable_code_interpreter
      code_execution compound_custom guardrails guardrail_config
    `),
  },
  {
    why: 'the price is for one answer',
    names: words('best_of candidate_count num_return_sequences num_generations num_completions n_choices'),
    usual: [1],
  },
  {
    why: 'the answer is text',
    names: words('prompt_logprobs response_modalities speech_config image_config return_images'),
    usual: [0, ['text'], ['TEXT']],
  },
  { why: 'hubs run no programs of the caller', names: words('custom_logit_processor logits_processors') },
  { why: 'only a model answers', names: words('mock_response mock_tool_calls mock_timeout') },
  {
    why: IN_HEADER,
    within: true,
    names: words(`
      session proof delegation redeliver payment x_payment payment_signature payment_identifier wallet
      agent_wallet payer agent_id idempotency_key
    `),
  },
];

export const foreignWithoutEffect: readonly ForeignMembers[] = [
  {
    why: 'hubs receive nothing that identifies the caller',
    within: true,
    names: words(`
      user_id user_profile_id user_name user_info end_user end_user_id customer customer_id customer_identifier account_id
      tenant_id session_id chat_id user_security_context requester_metadata app_name application_name
    `),
  },
  {
    why: 'answers are not stored for later retrieval',
    within: true,
    names: words(`
      tags labels trace trace_id trace_name trace_metadata span_id span_name generation_name request_id
      x_request_id client_request_id litellm_metadata litellm_call_id litellm_session_id litellm_trace_id
      proxy_server_request no_log turn_off_message_logging
    `),
  },
  {
    why: 'this service decides about caches and speed',
    names: words('cache caching no_cache use_cache cache_key cache_salt cache_ttl kv_transfer_params'),
  },
  { why: 'tokens are always counted', names: words('usage include_usage') },
];

/** Families of names, one for each provider that a gateway serves. Folded, so without `_` and `-`. */
export const foreignFamilies: readonly {
  readonly why: string;
  readonly names: RegExp;
  readonly usual?: readonly Json[];
}[] = [
  {
    why: 'hubs are called with the key of this service, at their own addresses',
    names: /^(?:litellm|aws|azure|vertex|sagemaker|langfuse|langsmith|posthog|wandb|portkey|helicone)/,
  },
  {
    why: 'hubs are called with the key of this service, at their own addresses',
    names: /apikey|apibase|baseur[il]|endpoint|credential|secret|password|proxy|hosturl|deploymenturl/,
  },
  { why: '`model` and `svc` decide which model answers, and where', names: /fallback|^modelid$|^safetymodel$/ },
  { why: 'each call has the same price and the same speed', names: /costper/ },
];

interface Tables {
  readonly refused: ReadonlyMap<string, ForeignMembers>;
  readonly ineffective: ReadonlySet<string>;
}

function tablesOf(groups: (group: ForeignMembers) => boolean, further: readonly string[] = []): Tables {
  const refused = foreignRefused.filter(groups);
  const ineffective = foreignWithoutEffect.filter(groups).flatMap(({ names }) => names);
  return {
    refused: new Map(refused.flatMap(group => group.names.map(name => [foldName(name), group]))),
    ineffective: new Set([...ineffective, ...further].map(foldName)),
  };
}

/** OpenAI's members that identify the caller are known in the body itself and ignored; elsewhere they are refused. */
const inBody = tablesOf(() => true);
const withinBody = tablesOf(({ within }) => within === true, Object.keys(callerIdentifiers));
/** Prefix of this service's own headers, which clients may send in the body by mistake. */
const OWN_HEADERS = foldName('X-SVC-');

/** How a member is treated that its object does not define. */
function foreignRule({ refused, ineffective }: Tables, { folded_name, value }: GivenMember): MemberRule {
  if (ineffective.has(folded_name)) return { kind: 'without_effect' };
  if (folded_name.startsWith(OWN_HEADERS)) return notServed(IN_HEADER);
  const group = refused.get(folded_name) ?? foreignFamilies.find(({ names }) => names.test(folded_name));
  if (!group) return FORWARDED;
  return saysNothing(value, group.usual ?? []) ? { kind: 'without_effect' } : notServed(group.why);
}

const notServed = (why: string): MemberRule => ({ kind: 'refused', why: `is not supported: ${why}` });

const NOTHING: readonly Json[] = [false, '', [], {}];

function saysNothing(value: Json, usual: readonly Json[]): boolean {
  const json = JSON.stringify(value);
  return [...NOTHING, ...usual].some(harmless => JSON.stringify(harmless) === json);
}

interface PlaceOptions {
  /** Members that clients send back from an earlier answer and that mean nothing to the next hub. */
  readonly without_effect?: readonly string[];
  /** Members that are ignored if they are empty. */
  readonly without_effect_empty?: readonly string[];
}

/**
 * An object in a body. Its unknown members are passed on, except those that identify the caller or choose where and under which key a hub
 * is called.
 */
export function openPlace(
  known: readonly string[],
  { without_effect = [], without_effect_empty = [] }: PlaceOptions = {},
): OpenPlace {
  const ownRule = ruleOfOwn(known);
  return {
    known: new Set(known),
    rule(member) {
      const { name, value } = member;
      if (without_effect.includes(name)) return { kind: 'without_effect' };
      if (without_effect_empty.includes(name) && isEmptyList(value)) return { kind: 'without_effect' };
      const own = ownRule(member);
      return own.kind === 'forwarded' ? foreignRule(withinBody, member) : own;
    },
  };
}

const isEmptyList = (value: Json): boolean => Array.isArray(value) && value.length === 0;

/** Refuses another spelling of a known member. */
function ruleOfOwn(known: Iterable<string>): (member: GivenMember) => MemberRule {
  const names = new Map([...known].map(name => [foldName(name), name]));
  return ({ folded_name }) => {
    const own = names.get(folded_name);
    return own === undefined ? FORWARDED : { kind: 'refused', why: `must be spelled ${own}` };
  };
}

/** A body, whose unknown members are passed on except those that no hub may receive. */
export function bodyPlace(
  known: Iterable<string>,
  without_effect: readonly string[],
  otherwise: OpenPlace['rule'],
): OpenPlace {
  const own = new Set(known);
  const ownRule = ruleOfOwn(own);
  const ineffective = new Set(without_effect.map(foldName));
  return {
    known: own,
    rule(member) {
      if (ineffective.has(member.folded_name)) return { kind: 'without_effect' };
      const foreign = foreignRule(inBody, member);
      if (foreign.kind !== 'forwarded') return foreign;
      const own_spelling = ownRule(member);
      return own_spelling.kind === 'forwarded' ? otherwise(member) : own_spelling;
    },
  };
}
