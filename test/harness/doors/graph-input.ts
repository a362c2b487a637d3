import { everyDoor } from '../../../rest-compat/every-door.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
// Imported for its effect: it registers the inputs of the graph, by which resolvers read their arguments.
import '../../../subgraphs/receipt/index.ts';

/** The valid body that the endpoint of that name reads from a body, and the input that its field on /graphql gets from it. */
export function inputOfBody(name: string, body: object): { readonly valid: JsonObject; readonly input: JsonObject } {
  const door = everyDoor.find(one => one.name === name);
  if (door?.kind !== 'document') throw new Error(`${name} has no operation`);
  const { valid_body, variables } = door.operation({ params: {}, query: {}, headers: {}, body: body as JsonObject });
  return { valid: valid_body as JsonObject, input: JSON.parse(JSON.stringify(variables.input)) as JsonObject };
}
