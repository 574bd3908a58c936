// Steps of a script that calls a client: each is done or failed, and one line of JSON tells.

const { createRequire } = require("node:module");

const facts = JSON.parse(process.argv[2]);
// Loads a package from the folder that the tests installed.
const fromPackages = createRequire(`${process.env.PACKAGES}/script.js`);
const done = [];
const failed = {};

async function step(name, run) {
  try {
    await run();
    done.push(name);
  } catch (error) {
    const line = /scripts\/\w+\.[cm]js:(\d+)/.exec(error.stack ?? "")?.[1];
    failed[name] = `line ${line}: ${error.message ?? JSON.stringify(error)}`;
  }
}

// The message with which a call is refused.
async function refused(call) {
  let answer;
  try {
    answer = await call();
  } catch (error) {
    return error.message.replace(/ \(Correlation-ID: \w+\)$/, ""); // which release 5 adds
  }
  throw new Error(`not refused: ${JSON.stringify(answer)}`);
}

const report = () => process.stdout.write(`${JSON.stringify({ done, failed })}\n`);
const ids = ({ hits }) => hits.map(({ objectID }) => objectID);
const numbered = (count) =>
  Array.from({ length: count }, (_, n) => ({ objectID: `${n}`, name: `lamp ${n}`, n }));

module.exports = { facts, fromPackages, ids, numbered, refused, report, step };
