import { scriptedPair, type ScriptedModel } from './chain-engine.ts';
import {
  SimDeployment,
  type SimDeploymentOptions,
  type SimModel,
  type SimReplica,
} from './sim-deployment.ts';

export const pair = scriptedPair(0.4, 3);
/** Never ends by itself. */
export const endless =
  (model: ScriptedModel): ScriptedModel =>
  (tokens, sampling) => {
    const said = model(tokens, sampling);
    return { ...said, token: said.token === 0 ? 7 : said.token };
  };

/** The scripted pair as a deployment: the small model is the home. */
export const models = (change: { small?: Partial<SimModel>; large?: Partial<SimModel> } = {}): SimModel[] => [
  { name: 'small', model: endless(pair.small), stepMs: () => 2, options: { resendMs: 40 }, ...change.small },
  { name: 'large', model: endless(pair.large), stepMs: () => 9, options: { resendMs: 40 }, ...change.large },
];

export const start = (
  options: Partial<SimDeploymentOptions> & { models?: SimModel[] } = {},
): Promise<SimDeployment> => new SimDeployment({ models: models(), ...options }).start();

export const replica = (sim: SimDeployment, model: number, name = 'r0'): SimReplica => {
  const found = sim.replicas.find((one) => one.model === model && one.name === name);
  if (!found) throw new Error('no such replica');
  return found;
};
