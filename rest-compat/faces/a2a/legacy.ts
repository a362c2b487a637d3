import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';

/* Translates responses of 1.0 to 0.3, and requests of 0.3 to 1.0. */

/** The result of a call. In 0.3 tasks and messages are not wrapped, and each has a `kind`. */
export function legacyResult(result: JsonObject): JsonObject {
  if (isJsonObject(result.task)) return legacyTask(result.task);
  if (isJsonObject(result.statusUpdate)) return statusUpdate(result.statusUpdate);
  if (isJsonObject(result.artifactUpdate)) return artifactUpdate(result.artifactUpdate);
  return result;
}

export function legacyTask({ status, artifacts, ...task }: JsonObject): JsonObject {
  return {
    kind: 'task',
    ...task,
    status: legacyStatus(status ?? {}),
    ...(Array.isArray(artifacts) ? { artifacts: artifacts.map(legacyArtifact) } : {}),
  };
}

function statusUpdate({ status = {}, ...update }: JsonObject): JsonObject {
  return { kind: 'status-update', ...update, status: legacyStatus(status), final: isFinal(status) };
}

function artifactUpdate({ artifact = {}, ...update }: JsonObject): JsonObject {
  return { kind: 'artifact-update', ...update, artifact: legacyArtifact(artifact) };
}

/** `TASK_STATE_INPUT_REQUIRED` → `input-required`. */
function legacyWord(word: Json | undefined, prefix: string): string {
  return String(word).slice(prefix.length).toLowerCase().replaceAll('_', '-');
}

function legacyStatus(status: Json): Json {
  if (!isJsonObject(status)) return status;
  const { state, message, ...rest } = status;
  return {
    ...rest,
    state: legacyWord(state, 'TASK_STATE_'),
    ...(isJsonObject(message) ? { message: legacyMessage(message) } : {}),
  };
}

/** Whether the status ends a stream. */
const isFinal = (status: Json): boolean =>
  isJsonObject(status) && /COMPLETED|FAILED|CANCELED|REJECTED|INPUT_REQUIRED/.test(String(status.state));

function legacyMessage({ role, parts, ...message }: JsonObject): JsonObject {
  return { kind: 'message', ...message, role: legacyWord(role, 'ROLE_'), parts: legacyParts(parts) };
}

function legacyArtifact(artifact: Json): Json {
  return isJsonObject(artifact) ? { ...artifact, parts: legacyParts(artifact.parts) } : artifact;
}

function legacyParts(parts: Json | undefined): Json {
  if (!Array.isArray(parts)) return [];
  return parts.map((part: Json) => {
    if (!isJsonObject(part)) return part;
    const { mediaType: _, ...members } = part;
    return { kind: 'text' in members ? 'text' : 'data', ...members };
  });
}

/** Params of 0.3 as params of 1.0: in 0.3 parts have a `kind`, and roles are in lower case (specification 1.0, A.2). */
export function fromLegacy({ message, configuration, ...params }: JsonObject): JsonObject {
  return {
    ...params,
    ...(isJsonObject(message) ? { message: messageOf(message) } : message === undefined ? {} : { message }),
    ...(isJsonObject(configuration) ? { configuration: configurationOf(configuration) } : {}),
  };
}

const roles: Readonly<Record<string, string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' };

function messageOf({ role, parts, kind: _, ...message }: JsonObject): JsonObject {
  return {
    ...message,
    ...(role === undefined ? {} : { role: (typeof role === 'string' && roles[role]) || role }),
    ...(Array.isArray(parts) ? { parts: parts.map(partOf) } : parts === undefined ? {} : { parts }),
  };
}

function partOf(part: Json): Json {
  if (!isJsonObject(part)) return part;
  const { kind, file, ...members } = part;
  if (kind !== 'file' || !isJsonObject(file)) return members;
  return { ...members, ...('uri' in file ? { url: file.uri ?? null } : { raw: file.bytes ?? null }) };
}

function configurationOf({ pushNotificationConfig, ...configuration }: JsonObject): JsonObject {
  return {
    ...configuration,
    ...(pushNotificationConfig === undefined ? {} : { taskPushNotificationConfig: pushNotificationConfig }),
  };
}
