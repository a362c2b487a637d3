/*
 * Models of the development hubs that name another one in their answers than the one that was asked for, as model hubs do: so anyone can
 * see what a receipt says of it, and what a dispute comes to.
 */

interface NamedModel {
  /** Where the provider says that it answers so, or who reported it. */
  readonly source: string;
  /** The member `model` of its answers. */
  readonly names: string;
}

export const namedModels: Readonly<Record<string, NamedModel>> = {
  'dev/answers-dated': {
    source: 'OpenAI, platform.openai.com/docs/api-reference/chat (gpt-4o answers as gpt-4o-2024-08-06)',
    names: 'dev/answers-dated-2024-08-06',
  },
  'dev/answers-other': {
    source: 'LiteLLM, as reported in github.com/BerriAI/litellm/issues/27942',
    names: 'dev/small',
  },
  'dev/answers-unknown': {
    source: 'LiteLLM, as reported in github.com/BerriAI/litellm/issues/38107',
    names: 'tiny-model-2024',
  },
};

/** The model that a hub which was asked for one names in its answer. */
export function modelNamedFor(model: string): string {
  return namedModels[model]?.names ?? model;
}
