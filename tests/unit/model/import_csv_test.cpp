// SPDX-License-Identifier: Apache-2.0

#include <corymb/detail/output.hpp>
#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>

namespace corymb {

namespace {

std::string square_error(const std::string& text) {
    try {
        (void)import_latency_csv(text, "test", TimeUnit::nanoseconds);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_model);
        return error.what();
    }
    return "";
}

std::string smelt_error(const std::string& send, const std::string& receive) {
    try {
        (void)import_smelt_csv(send, receive, "test");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_model);
        return error.what();
    }
    return "";
}

TEST(ImportLatencyCsv, ReadsRowsAndKeepsCpuNumbers) {
    const Machine machine = import_latency_csv("cpu,4,6,9\r\n4, 0,10,30\n\n6,12,,30\n9,30,0,0\n",
                                               "m", TimeUnit::cycles);
    EXPECT_EQ(machine.size(), 3);
    EXPECT_EQ(machine.topology.pus[1].cpu, 6);
    EXPECT_EQ(machine.unit, TimeUnit::cycles);
    EXPECT_EQ(machine.receive[1], 10);
    EXPECT_EQ(machine.receive[3], 12);
    EXPECT_NEAR(machine.send[1], 2.8, 1e-6);
    EXPECT_TRUE(std::isnan(machine.receive[7])); // 0 off the diagonal.
    EXPECT_TRUE(std::isnan(machine.send[7]));
    EXPECT_GT(machine.receive_cost(2, 1), 0);
}

TEST(ImportLatencyCsv, ErrorsNameLineAndColumn) {
    EXPECT_EQ(square_error(""), "line 1: the file is empty");
    EXPECT_EQ(square_error("cpu\n"),
              "line 1, column 1: must be followed by the numbers of the CPUs");
    EXPECT_EQ(square_error("cpu,0,1\n0,0,5\n1,x,0\n"),
              "line 3, column 2: must be a number >= 0, is \"x\"");
    EXPECT_EQ(square_error("cpu,0,1\n0,0,-5\n1,5,0\n"),
              "line 2, column 3: must be a number >= 0, is \"-5\"");
    EXPECT_EQ(square_error("cpu,0,1\n0,0,5\n1,5\n"),
              "line 3, column 2: the row has 2 cells, but the first has 3");
    EXPECT_EQ(square_error("cpu,0,1\n0,0,5\n"), "line 2, column 1: the file has 1 rows for 2 CPUs");
    EXPECT_EQ(square_error("cpu,0,1\n0,3,5\n1,5,0\n"),
              "line 2, column 2: CPU 0 to itself must be 0, is 3");
    EXPECT_EQ(square_error("cpu,0,1\n1,0,5\n0,5,0\n"),
              "line 2, column 1: must be CPU 0, in the order of the first row, is 1");
    EXPECT_EQ(square_error("cpu,0,0\n0,0,5\n0,5,0\n"), "line 1, column 3: CPU 0 stands twice");
    const std::string form =
        "; the first line is cpu,0,1,2,... and each other one the number of a CPU and its row";
    EXPECT_EQ(square_error("0,41.5\n41.5,0\n"), // A matrix without numbers of CPUs.
              "line 1, column 2: must be the number of a CPU, is \"41.5\"" + form);
    EXPECT_EQ(square_error("cpu,0,-1\n"),
              "line 1, column 3: must be the number of a CPU, is \"-1\"" + form);
}

TEST(ImportLatencyCsv, RefusesWhatIsNoFiniteNumber) {
    for (const char* cell : {"nan", "inf", "1e999", "1e40", "0x10", "5 5", "\xff\xfe", "1.2.3"}) {
        const std::string error = square_error("cpu,0,1\n0,0," + std::string(cell) + "\n1,5,0\n");
        EXPECT_NE(error.find("line 2, column 3"), std::string::npos) << cell << ": " << error;
        for (const char letter : error) {
            EXPECT_TRUE(letter >= ' ' && letter <= '~');
        }
    }
}

TEST(ImportLatencyCsv, AFileCutAnywhereIsRefused) {
    const std::string whole = "cpu,0,1,2\n0,0,10,30\n1,10,0,30\n2,30,30,0";
    EXPECT_EQ(square_error(whole), "");
    for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
        EXPECT_NE(square_error(whole.substr(0, length)), "") << "at " << length;
    }
}

TEST(ImportLatencyCsv, AllMissingIsRefused) {
    EXPECT_NE(square_error("cpu,0,1\n0,0,0\n1,0,0\n").find("no pair"), std::string::npos);
}

constexpr const char* header = "sender_core,receiver_core,mean_cycles,stddev_cycles\n";

TEST(ImportSmeltCsv, ReadsPairs) {
    const std::string send = std::string(header) + "0,1,60,2\n1,0,64.5,2\n3,0,70\n";
    const std::string receive = std::string(header) + "0,1,200,1\n1,0,210,1\n3,0,220\n";
    const Machine machine = import_smelt_csv(send, receive, "s");
    EXPECT_EQ(machine.size(), 3);
    EXPECT_EQ(machine.topology.pus[2].cpu, 3);
    EXPECT_EQ(machine.send_cost(1, 0), 64.5);
    EXPECT_EQ(machine.receive_cost(2, 0), 220);
    EXPECT_TRUE(std::isnan(machine.send[2]));
    EXPECT_EQ(machine.unit, TimeUnit::cycles);
    EXPECT_TRUE(std::isnan(machine.unit_ns));
}

TEST(ImportSmeltCsv, ErrorsNameFileLineAndColumn) {
    const std::string good = std::string(header) + "0,1,60,2\n";
    EXPECT_EQ(smelt_error("", good), "send file: line 1: the file has no rows");
    EXPECT_EQ(smelt_error(good, std::string(header) + "0,1\n"),
              "receive file: line 2, column 2: the row must have sender, receiver and mean cycles");
    EXPECT_EQ(smelt_error(good, std::string(header) + "0,0,5\n"),
              "receive file: line 2, column 2: CPU 0 sends to itself");
    EXPECT_EQ(smelt_error(good + "0,1,61,2\n", good),
              "send file: line 3, column 1: the pair 0, 1 stands twice");
    EXPECT_EQ(smelt_error(good, std::string(header) + "0,1,-60\n"),
              "receive file: line 2, column 3: must be a number >= 0, is \"-60\"");
}

/// A folder of this process's own that goes with the object.
class Folder {
public:
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("corymb-import-" + std::to_string(::getpid()));
};

TEST(LoadMachine, ReadsSquareFilesAndFoldersByTheirNames) {
    const Folder folder;
    const std::string square = "cpu,0,1\n0,0,5\n1,5,0\n";
    detail::write_output(folder.path / "own.csv", square);
    const Machine own = load_machine(folder.path / "own.csv");
    EXPECT_EQ(own.name, "own");
    EXPECT_EQ(own.unit, TimeUnit::nanoseconds);
    EXPECT_EQ(own.receive_cost(0, 1), 5);
    detail::write_output(folder.path / "old-cycles.csv", square);
    EXPECT_EQ(load_machine(folder.path / "old-cycles.csv").unit, TimeUnit::cycles);

    const std::string pairs = "sender_core,receiver_core,mean_cycles,stddev_cycles\n"
                              "0,1,60,1\n1,0,70,1\n";
    detail::write_output(folder.path / "send.csv", pairs);
    detail::write_output(folder.path / "receive.csv", pairs);
    const Machine both = load_machine(folder.path / ""); // A slash at the end is no other name.
    EXPECT_EQ(both.name, folder.path.filename().string());
    EXPECT_EQ(both.send_cost(1, 0), 70);
}

TEST(LoadMachine, ErrorsNameTheFile) {
    const Folder folder;
    const std::filesystem::path file = folder.path / "wrong.csv";
    detail::write_output(file, "cpu,0,1\n0,0,5\n1,x,0\n");
    try {
        (void)load_machine(file);
        ADD_FAILURE() << "a letter was taken for a latency";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_model);
        EXPECT_EQ(error.what(),
                  file.string() + ": line 3, column 2: must be a number >= 0, is \"x\"");
    }
    try {
        (void)load_machine(folder.path); // A folder without Smelt's files.
        ADD_FAILURE() << "a folder was taken for a model";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::io);
        EXPECT_NE(std::string(error.what()).find(folder.path.string()), std::string::npos);
    }
}

} // namespace

} // namespace corymb
