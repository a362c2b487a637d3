import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { limits } from '../../schema/limits.ts';
import { weightOf } from './heavy-fields.ts';
import { rowsAsked, sizeOf, type Variables } from './list-sizes.ts';

/** What a selection asks for, every fragment counted wherever it is spread. A number may grow to Infinity, never wrap. */
export interface Weight {
  /** Selection sets within each other, those of fragments included. */
  readonly depth: number;
  readonly fields: number;
  /** Fields that stand in the set itself. */
  readonly width: number;
  readonly aliases: number;
  readonly directives: number;
  /** Fields that one execution completes, but for the rows of a page; and for each of those. */
  readonly cost: number;
  readonly cost_per_row: number;
}

const nothing: Weight = { depth: 0, fields: 0, width: 0, aliases: 0, directives: 0, cost: 0, cost_per_row: 0 };

function sum(weights: readonly Weight[]): Weight {
  return weights.reduce(
    (all, one) => ({
      depth: Math.max(all.depth, one.depth),
      fields: all.fields + one.fields,
      width: all.width + one.width,
      aliases: all.aliases + one.aliases,
      directives: all.directives + one.directives,
      cost: all.cost + one.cost,
      cost_per_row: all.cost_per_row + one.cost_per_row,
    }),
    nothing,
  );
}

/**
 * Weighs the operations and fragments of one document in time linear in its length: a fragment is weighed once, however
 * often it is spread, so that fragments which spread each other twice are told by a number and not by walking 2^n of them.
 * The document must hold no cycle of fragments.
 */
export class Scale {
  readonly #schema: GraphQLSchema;
  readonly #variables: Variables;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #weighed = new Map<string, Weight>();

  constructor(document: DocumentNode, schema: GraphQLSchema, variables: Variables) {
    this.#schema = schema;
    this.#variables = variables;
    this.#fragments = fragmentsByName(document);
  }

  ofOperation({ operation, selectionSet, directives = [] }: OperationDefinitionNode): Weight {
    const root = this.#schema.getRootType(operation) ?? undefined;
    const weight = this.#ofSet(selectionSet, root);
    const rows = limits.book_page_rows_default;
    return {
      ...weight,
      directives: weight.directives + directives.length,
      cost: weight.cost + rows * weight.cost_per_row + weight.width * limits.graphql_root_field_cost,
    };
  }

  ofFragment(name: string): Weight {
    const known = this.#weighed.get(name);
    if (known) return known;
    const fragment = this.#fragments.get(name);
    // Unknown fragments and types are GraphQL's own to refuse.
    if (!fragment) return nothing;
    const { typeCondition, selectionSet, directives = [] } = fragment;
    const weight = this.#ofSet(selectionSet, this.#typeNamed(typeCondition.name.value));
    const whole = { ...weight, directives: weight.directives + directives.length };
    this.#weighed.set(name, whole);
    return whole;
  }

  #ofSet({ selections }: SelectionSetNode, parent: GraphQLCompositeType | undefined): Weight {
    const weight = sum(selections.map(node => this.#ofNode(node, parent)));
    return { ...weight, depth: weight.depth + 1 };
  }

  #ofNode(node: SelectionNode, parent: GraphQLCompositeType | undefined): Weight {
    const weight = this.#selected(node, parent);
    return { ...weight, directives: weight.directives + (node.directives?.length ?? 0) };
  }

  #selected(node: SelectionNode, parent: GraphQLCompositeType | undefined): Weight {
    if (node.kind === Kind.FIELD) return this.#ofField(node, parent);
    if (node.kind === Kind.FRAGMENT_SPREAD) return this.ofFragment(node.name.value);
    const condition = node.typeCondition;
    return this.#ofSet(node.selectionSet, condition ? this.#typeNamed(condition.name.value) : parent);
  }

  #ofField(node: FieldNode, parent: GraphQLCompositeType | undefined): Weight {
    const field = parent && fieldOf(parent, node.name.value);
    const type = field && getNamedType(field.type);
    const inside = node.selectionSet
      ? this.#ofSet(node.selectionSet, isCompositeType(type) ? type : undefined)
      : nothing;
    const size = node.selectionSet && parent && field ? sizeOf(parent, field) : 1;
    const each = weightOf(parent, field) + inside.cost + rowsAsked(node, field, this.#variables) * inside.cost_per_row;
    return {
      depth: inside.depth,
      fields: inside.fields + 1,
      width: 1,
      aliases: inside.aliases + (node.alias ? 1 : 0),
      directives: inside.directives,
      cost: size === 'page' ? 1 : size * each,
      cost_per_row: size === 'page' ? each : 0,
    };
  }

  #typeNamed(name: string): GraphQLCompositeType | undefined {
    const type = this.#schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }
}

function fieldOf(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return 'getFields' in parent ? parent.getFields()[name] : undefined;
}

export function fragmentsByName(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = document.definitions.filter(definition => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map(fragment => [fragment.name.value, fragment]));
}
