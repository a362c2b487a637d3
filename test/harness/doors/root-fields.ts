import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';
import { ROOT } from '../root.ts';

/* Every root field of the graph, each as an operation that asks for it with no more than it requires. */

type Field = GraphQLField<unknown, unknown>;

const supergraph = buildSchema(await readFile(join(ROOT, 'schema/supergraph.graphql'), 'utf8'), { assumeValid: true });

const fieldsOf = (type: GraphQLObjectType | null | undefined): readonly Field[] =>
  Object.values(type?.getFields() ?? {});

export const queries = fieldsOf(supergraph.getQueryType());
export const mutations = fieldsOf(supergraph.getMutationType());
export const subscriptions = fieldsOf(supergraph.getSubscriptionType());

export const isPaid = ({ astNode }: Field): boolean =>
  astNode?.directives?.some(({ name }) => name.value === 'paid') ?? false;

/** A literal of that type, as far as it is required. */
function literalOf(type: GraphQLInputType, name: string, agent_id: number): string {
  if (isNonNullType(type)) return literalOf(type.ofType as GraphQLInputType, name, agent_id);
  if (isListType(type)) return '[]';
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{ ${fields.map(field => `${field.name}: ${literalOf(field.type, field.name, agent_id)}`).join(', ')} }`;
  }
  if (name === 'agentId') return String(agent_id);
  return (
    { Int: '1', Float: '1', Boolean: 'true', JSON: 'null', JSONObject: '{}', DateTime: '"2026-01-01T00:00:00Z"' }[
      type.name
    ] ?? '"1"'
  );
}

/** The field alone, of that agent's book where it is of one; `naming`: also where the agent may be left out. */
export function operationOf(
  kind: 'query' | 'mutation' | 'subscription',
  field: Field,
  agent_id: number,
  { naming = false }: { readonly naming?: boolean } = {},
): string {
  const { name, args, type } = field;
  const required = args.filter(arg => isNonNullType(arg.type) || (naming && arg.name === 'agentId'));
  const given = required.map(arg => `${arg.name}: ${literalOf(arg.type, arg.name, agent_id)}`).join(', ');
  const selection = isLeafType(getNamedType(type)) ? '' : ' { __typename }';
  return `${kind} { ${name}${given && `(${given})`}${selection} }`;
}
