import { type ConstDirectiveNode, type DefinitionNode, Kind, parse, print, printSchema } from 'graphql';
import type { Graph } from '../graph/open-graph.ts';

/**
 * The API schema as text, with descriptions and without the subgraphs. Of the gateway's directives it shows only `@paid`, which
 * marks fields that cost money.
 */
export function sdlOf({ schema, paid }: Pick<Graph, 'schema' | 'paid'>): string {
  const document = parse(printSchema(schema), { noLocation: true });
  const definitions = document.definitions.filter(({ kind }) => kind !== Kind.DIRECTIVE_DEFINITION).map(markPaidFields);
  return `${PAID}\n\n${print({ ...document, definitions })}\n`;

  function markPaidFields(definition: DefinitionNode): DefinitionNode {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION || !ROOTS.has(definition.name.value)) return definition;
    const fields = definition.fields?.map(field => {
      const price = paid.get(field.name.value);
      return price === undefined ? field : { ...field, directives: [paidAt(price)] };
    });
    return { ...definition, ...(fields ? { fields } : {}) };
  }
}

const PAID = `"""The field costs price, in atomic USDC. Pay as its 402 response offers, or send an API key."""
directive @paid(price: String!) on FIELD_DEFINITION`;

/** Types whose fields may cost money. Queries are free. */
const ROOTS: ReadonlySet<string> = new Set(['Mutation', 'Subscription']);

function paidAt(price: string): ConstDirectiveNode {
  const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
  const value = { kind: Kind.STRING, value: price } as const;
  return {
    kind: Kind.DIRECTIVE,
    name: name('paid'),
    arguments: [{ kind: Kind.ARGUMENT, name: name('price'), value }],
  };
}
