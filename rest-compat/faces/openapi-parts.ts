import type { JsonObject } from '../../schema/canonical-json.ts';
import { headerNames } from './openapi-headers.ts';
import type { ComponentSchemas } from './openapi-schemas.ts';

/** What the document describes in one place, for all endpoints. */
export interface Components {
  readonly schemas: ComponentSchemas;
  readonly parts: ComponentParts;
}

interface Part {
  readonly part: JsonObject;
  /** What it is called unless a form that is used more often has that name. */
  readonly name: string;
  /** What it is called otherwise: a name that is its first user's own. */
  readonly own_name: string;
  readonly uses: JsonObject[];
}

/** Parts of one kind. A part that is used once is written where it is used; any other is a component, and each use a reference to it. */
class Parts {
  readonly #kind: 'responses' | 'parameters';
  readonly #parts = new Map<string, Part>();

  constructor(kind: 'responses' | 'parameters') {
    this.#kind = kind;
  }

  /** A use of a part. It is filled in by `components`, when all uses are known. */
  use(part: JsonObject, name: string, own_name: string): JsonObject {
    const text = JSON.stringify(part);
    const known = this.#parts.get(text) ?? { part, name, own_name, uses: [] };
    this.#parts.set(text, known);
    const use = {};
    known.uses.push(use);
    return use;
  }

  /** Fills in all uses. Returns the components by name. */
  components(): JsonObject {
    const components = new Map<string, JsonObject>();
    const by_uses = [...this.#parts.values()].sort((one, other) => other.uses.length - one.uses.length);
    for (const { part, name, own_name, uses } of by_uses) {
      const component = components.has(name) ? own_name : name;
      const is_shared = uses.length > 1;
      if (is_shared) components.set(component, part);
      for (const use of uses) Object.assign(use, is_shared ? reference(this.#kind, component) : part);
    }
    return byName(components);
  }
}

/** Responses, headers and parameters. Written out at every endpoint, they would make the document twice as long. */
export class ComponentParts {
  readonly #responses = new Parts('responses');
  readonly #parameters = new Parts('parameters');
  readonly #headers = new Map<string, JsonObject>();

  /** @param name null if only the name of its operation and status says what it is */
  response(response: JsonObject, name: string | null, operation_id: string, status: string): JsonObject {
    const own_name = `${pascal(operation_id)}${status}`;
    return this.#responses.use(response, name ?? own_name, own_name);
  }

  parameter(parameter: JsonObject, operation_id: string): JsonObject {
    const name = `${parameter.in}.${parameter.name}`;
    return this.#parameters.use(parameter, name, `${name}.${operation_id}`);
  }

  /** Headers of a response. Every header of the table is a component. */
  headers(headers: Readonly<Record<string, JsonObject>>): JsonObject {
    return Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, this.#header(header)]));
  }

  /** All components. No part is complete before this call. */
  components(): JsonObject {
    return {
      responses: this.#responses.components(),
      parameters: this.#parameters.components(),
      headers: byName(this.#headers),
    };
  }

  #header(header: JsonObject): JsonObject {
    const name = headerNames.get(header);
    if (name === undefined) return header;
    this.#headers.set(name, header);
    return reference('headers', name);
  }
}

/** `list_models` as ListModels. */
export function pascal(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function reference(kind: string, name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}

function byName(components: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1)));
}
